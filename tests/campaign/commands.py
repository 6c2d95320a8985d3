"""The commands that faults are tried on, each on data so small that it takes some milliseconds."""
import os

import common

TRAIN = common.make_table(40, seed=1)
TEST = common.make_table(10, seed=2)
HOLES = b"id,a,b\n" + b"".join(b'"row ""%d"", text",%s,0.5\n' % (i, b"" if i == 3 else b"0.%d" % i) for i in range(9))
QUICK = ["--experts", "3", "--kernel", "se", "--max-evaluations", "8", "--threads", "1"]


def fit_model(given, root, *options):
    """The bytes of a model of TRAIN, made with the given options."""
    directory = os.path.join(root, "model")
    command = common.Command("model", ["fit", "train.csv", "-o", "model.npz", *options],
                             {"train.csv": TRAIN})
    os.makedirs(directory, exist_ok=True)
    common.write_files(directory, command.files)
    ending = common.run_command(given, command, directory, {"CALL": "memory", "AT": 0}, 60)
    common.write_files(directory, {}, ending.files)
    if ending.code != 0:
        raise SystemExit(f"cannot make a model: {ending.err.decode()}")
    return ending.files["model.npz"]


def make_commands(given, root):
    """Every command that reads or writes, over an old output where it writes."""
    model = fit_model(given, root, *QUICK)
    old = fit_model(given, root, *QUICK, "--kernel", "matern32")
    calibrated = fit_model(given, root, *QUICK, "--calibrate")
    about = fit_model(given, root, *QUICK, "--kernel", "matern32x2", "--trend", "linear", "--offset", "1")
    overlapping = fit_model(given, root, *QUICK, "--overlap", "0.5", "--weights", "2")
    fit = {"train.csv": TRAIN, "model.npz": old}
    use = {"model.npz": model, "test.csv": TEST}

    def command(name, line, files, **more):
        return common.Command(name, line.split(), files, **more)

    commands = [
        command("fit", "fit train.csv -o model.npz", fit),
        command("fit --json", "fit train.csv -o model.npz --json", fit),
        command("fit --calibrate", "fit train.csv -o model.npz --calibrate", fit),
        command("fit --trend", "fit train.csv -o model.npz --trend linear --offset 1", fit),
        command("fit of gzip", "fit train.csv.gz -o model.npz -v",
                {"train.csv.gz": common.compress(TRAIN)}),
        command("fit of stdin", "fit - -o model.npz --theta 1,1,1,0.01", {"model.npz": old},
                stdin=TRAIN),
        command("predict", "predict model.npz test.csv", use),
        command("predict -o", "predict model.npz test.csv -o out.csv",
                {**use, "out.csv": b"old\n"}),
        command("predict of gzip", "predict model.npz test.csv.gz -o out.csv",
                {"model.npz": calibrated, "test.csv.gz": common.compress(TEST)}),
        command("predict --method", "predict model.npz - --method grbcm*", {"model.npz": model},
                stdin=TEST),
        command("predict --keep", "predict model.npz holes.csv -o out.csv --keep all --row-number --missing nan",
                {"model.npz": model, "holes.csv": HOLES, "out.csv": b"old\n"}),
        command("predict about a line", "predict model.npz test.csv -o out.csv",
                {**use, "model.npz": about}),
        command("evaluate", "evaluate model.npz test.csv", use),
        command("evaluate --json", "evaluate model.npz test.csv --json --method all", use),
        command("evaluate --by", "evaluate model.npz test.csv --by distance --plot by.svg",
                {**use, "by.svg": b"old\n"}),
        command("sample", "sample model.npz test.csv -n 3 -o out.csv",
                {**use, "model.npz": about, "out.csv": b"old\n"}),
        command("suggest", "suggest model.npz test.csv -n 2 -o out.csv --over test.csv",
                {**use, "out.csv": b"old\n"}),
        command("update", "update model.npz test.csv -o model.npz --window 45", {**use, "model.npz": calibrated}),
        command("update --forget", "update model.npz test.csv -o other.npz --forget 1-3 --json",
                {**use, "model.npz": overlapping, "other.npz": old}),
        command("fit --start", "fit train.csv -o model.npz --start old.npz", {**fit, "old.npz": old}),
        command("inspect", "inspect model.npz", use),
        command("inspect --json", "inspect model.npz --json", use),
        command("graph", "graph model.npz -o graph.dot", {**use, "graph.dot": b"old\n"}),
        command("graph of test", "graph model.npz -o graph.json --test test.csv", use),
        command("options", "options --markdown", {}),
    ]
    for c in commands:
        if c.arguments[0] == "fit":
            c.arguments += QUICK
        elif "test.csv" in c.arguments:
            c.arguments += ["--threads", "2"]
    return [c for c in commands if given.only in c.name]
