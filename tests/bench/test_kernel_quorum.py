"""bench/kernel_quorum.py: weights, densities and scores against their definitions, and one whole run."""
import gzip
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import common
import kernel_quorum as kq
from conftest import BENCH, QUORUM

rng = np.random.default_rng(1)


def errors(n=400):
    """Errors of four experts that have much in common."""
    return rng.standard_normal((n, 1)) + rng.standard_normal((n, 4)) * [0.3, 0.5, 0.8, 2.0]


def test_weights_without_penalty_are_those_of_the_inverse():
    S = kq.moments(errors())
    w, Theta = kq.sparse_weights(S, 0.0, kq.graphical_lasso())
    wanted = np.linalg.solve(S, np.ones(4))
    assert w == pytest.approx(wanted / wanted.sum(), abs=1e-6)
    assert Theta @ S == pytest.approx(np.eye(4), abs=1e-6)


def test_the_full_penalty_leaves_a_diagonal():
    S = kq.moments(errors())
    w, Theta = kq.sparse_weights(S, 1.0, kq.graphical_lasso())
    assert w == pytest.approx(1 / np.diag(S) / (1 / np.diag(S)).sum(), abs=1e-6)
    assert np.count_nonzero(Theta) == 4


def test_no_negatives_against_all_supports():
    E = errors()
    S, best = kq.moments(E), np.inf
    for support in (list(s) for k in range(1, 5) for s in itertools.combinations(range(4), k)):
        w = np.linalg.solve(S[np.ix_(support, support)], np.ones(len(support)))
        if (w >= 0).all():
            best = min(best, 1 / w.sum())  # w' S w of w / 1'w
    w = kq.no_negatives(E)
    assert w.min() >= 0 and w.sum() == pytest.approx(1)
    assert w @ S @ w == pytest.approx(best, rel=1e-5)


def test_per_query_covariance_against_its_inverse():
    mean, variance = rng.standard_normal((5, 4)), rng.uniform(0.1, 2, (5, 4))
    Theta = np.linalg.inv(kq.moments(errors()))
    joined = kq.from_covariance(mean, variance, Theta)
    for q in range(5):
        s = np.diag(np.sqrt(variance[q]))
        inverse = np.linalg.inv(s @ np.linalg.inv(Theta) @ s)
        w = inverse.sum(1) / inverse.sum()
        assert [joined[0][q], joined[1][q]] == pytest.approx([w @ mean[q], 1 / inverse.sum()])
        assert joined[2][q] == pytest.approx(w)


def test_densities_against_their_definitions():
    mean, variance, w = np.array([[0.0, 1.0]]), np.array([[1.0, 0.25]]), np.array([0.3, 0.7])
    experts = [norm(m, np.sqrt(v)) for m, v in zip(mean[0], variance[0])]
    y = np.array([0.4])
    assert kq.gaussian_loss(y, 0.0, 1.0) == pytest.approx(-experts[0].logpdf(y))
    mixed = 0.3 * experts[0].pdf(0.4) + 0.7 * experts[1].pdf(0.4)
    assert kq.mixture_loss(y, mean, variance, w) == pytest.approx(-np.log(mixed))
    pool = lambda t: experts[0].pdf(t) ** 0.3 * experts[1].pdf(t) ** 0.7
    total = quad(pool, -10, 10)[0]
    m, v = kq.pooled(mean, variance, w)
    assert m[0] == pytest.approx(quad(lambda t: t * pool(t), -10, 10)[0] / total)
    assert kq.gaussian_loss(y, m, v) == pytest.approx(-np.log(pool(0.4) / total))


def test_a_mixture_of_widths_finds_heavy_tails():
    """Student-t errors are told from Gaussian ones; the mean is the kernel's own."""
    def part(draws):
        return {"y": draws, "mean": np.zeros((len(draws), 4)), "variance": np.ones((len(draws), 4))}
    heavy, plain = part(rng.standard_t(3, 4000)), part(rng.standard_normal(4000))
    mean, loss = kq.widened(heavy, heavy, 2)
    assert (mean == 0).all() and loss.mean() < kq.gaussian_loss(heavy["y"], 0.0, 1.0).mean() - 0.1
    assert kq.widened(plain, plain, 2)[1].mean() == pytest.approx(norm.entropy(), abs=0.05)


def test_paired_errors_count_a_ball_once():
    d = rng.standard_normal(50)
    mean, error = kq.paired(d, np.arange(50))
    assert (mean, error) == pytest.approx((d.mean(), d.std(ddof=1) / np.sqrt(50)))
    assert kq.paired(np.repeat(d, 3), np.repeat(np.arange(50), 3)) == pytest.approx((mean, error))


def test_parts_are_apart_and_balls_are_whole():
    table = rng.uniform(0, 1, (1400, 3))
    part, draw = kq.parts(table, np.random.default_rng(1))
    counts = {name: int((part == name).sum()) for name in np.unique(part)}
    assert counts == {"": 1040, "A alone": 100, "A gaps": 80, "B alone": 100, "B gaps": 80}
    for ball in np.unique(draw[np.char.endswith(part, "gaps")]):
        centre, rows = ball - len(table), np.flatnonzero(draw == ball)
        assert len(set(part[rows])) == 1 and len(rows) in kq.BALLS and centre in rows
        scaled = table[:, :-1] / table[:, :-1].std(0)
        distance = ((scaled - scaled[centre]) ** 2).sum(1)
        outside = ~np.char.endswith(part, "gaps")  # rows of another ball may have been taken before
        assert distance[rows].max() <= distance[outside].min()
    with pytest.raises(SystemExit, match="too few"):
        kq.parts(table[:1000], rng)


def test_a_whole_run(tmp_path):
    os.mkdir(tmp_path / "made")
    rows = common.made(np.random.default_rng(1), 1200)
    with gzip.open(tmp_path / "made" / "train.csv.gz", "wt") as file:
        file.write("colour,a,b,y\n")  # words are no input
        file.writelines(f"red,{r[0]},{r[1]},{r[-1]}\n" for r in rows)
    out, keep = tmp_path / "out.csv", tmp_path / "keep"
    os.mkdir(keep)
    command = [sys.executable, "-B", os.path.join(BENCH, "kernel_quorum.py"), str(tmp_path), "--quorum", QUORUM,
               "--sets", "made", "--keep", str(keep), "--out", str(out)]
    subprocess.run(command, check=True)
    found = {(r["way"], r["part"]): r for r in common.read_csv(out)}
    text = out.read_text()
    known = dict(np.load(keep / "made-1.npz"))
    for part in ("all", "alone", "gaps"):
        rows = np.char.startswith(known["part"], "B" if part == "all" else f"B {part}")
        whole = np.char.startswith(known["part"], "B")
        error = (known["y"] - known["mean"][:, 1]) ** 2 / known["y"][whole].var()
        row = found["matern12 alone", part]
        assert (int(row["rows"]), float(row["smse"])) == (rows.sum(), pytest.approx(error[rows].mean(), rel=1e-4))
        first, wide = found["best single kernel", part], found[kq.WIDENED, part]
        assert float(first["smse_less"]) == float(first["msll_less"]) == float(wide["wide_less"]) == 0
        assert float(first["wide_less"]) == pytest.approx(float(first["msll"]) - float(wide["msll"]), abs=1e-3)
        assert len([way for way, p in found if p == part]) == 18
    subprocess.run(command, check=True)  # from the predictions that were kept
    assert out.read_text() == text
