"""Section 4.2.2 and its appendix: what Protein, Sarcos and Song have in common."""
from cells import PAPER, evaluate, fit, predict

INDEPENDENT = "poe,gpoe,bcm,rbcm,grbcm"
ON_TEST = ("--graph-on", "test")


def paper_fit(name, data, train, seed, M, penalty, *options, variant="", seconds=40):
    about = {"data": data, "partition": "kmeans", "M": M, "seed": seed, "penalty": penalty}
    if variant:
        about["variant"] = variant
    return fit(name, train, about, "--experts", str(M), *PAPER, "--lambda", str(penalty), *options,
               seconds=seconds)


def independent(model, test, space="observed", methods=INDEPENDENT, seconds=60):
    return evaluate(model, f"independent {space}", test, "--method", methods, "--select",
                    "all,graph:0.8", "--space", space, *ON_TEST, seconds=seconds)


def npae_star(model, test, alpha=0.8, seconds=120):
    return evaluate(model, "npae*", test, "--method", "npae", "--select", f"graph:{alpha}",
                    *ON_TEST, seconds=seconds)


def local(model, test):
    return evaluate(model, "own local", test, "--method", "npae", "--select", "local:4", seconds=5,
                    variant="own: 4 best experts a query")


def own_default(data, train, test, seed):
    about = {"data": data, "partition": "kmeans", "M": "auto", "seed": seed,
             "variant": "own: default settings"}
    model = fit(f"own default {data} seed{seed}", train, about, "--calibrate", seconds=35)
    return [model, evaluate(model, "own default", test, seconds=25)]


def lost_rows(model, test):
    """Who is hurt by a selection: the surest expert of each row before and after it, and RBCM's
    means."""
    return [predict(model, f"{method} {select}", test, (column,), "--method", method, "--select",
                    select, "--space", "observed", *ON_TEST, seconds=6)
            for method, column in (("single", "std"), ("rbcm", "mean"))
            for select in ("all", "graph:0.8")]
