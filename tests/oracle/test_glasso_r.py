"""The graphical lasso against its optimality conditions, computed here with NumPy,
and against R's glasso package when Rscript and the package are installed.

Needs QUORUM_BUILD_DIR (the program is $QUORUM_BUILD_DIR/tests/glasso_probe)."""

import os
import shutil
import subprocess

import numpy as np
import pytest

PROBE = os.path.join(os.environ.get("QUORUM_BUILD_DIR", "build"), "tests", "glasso_probe")

pytestmark = pytest.mark.skipif(
    not os.path.exists(PROBE), reason=f"{PROBE} is not built; set QUORUM_BUILD_DIR"
)


def missing_r():
    """Why R's glasso cannot be asked, or None."""
    if not shutil.which("Rscript"):
        return "Rscript is not installed"
    asked = subprocess.run(["Rscript", "-e", "library(glasso)"], capture_output=True)
    return None if asked.returncode == 0 else "R's package glasso is not installed"


MISSING_R = missing_r()
needs_r = pytest.mark.skipif(MISSING_R is not None, reason=str(MISSING_R))


# ---- matrices ---------------------------------------------------------------


def factor_covariance(p, seed=1):
    """Experts on a square: smooth common factors, a kernel, variances 0.001 to 1."""
    rng = np.random.default_rng(seed)
    c = rng.random((p, 2))
    loadings = np.stack([np.sin(3 * k * c[:, 0] + k) / k for k in range(1, 6)], 1)
    squares = ((c[:, None] - c[None]) ** 2).sum(-1)
    scale = np.exp(0.5 * rng.uniform(np.log(0.001), 0.0, p))
    S = (loadings @ loadings.T + 0.5 * np.exp(-squares / 0.02)) * scale[:, None] * scale
    return (S + S.T) / 2


def expert_covariance(p, seed=2):
    """Means of p GP experts, each with a local part of 1-D data, at 400 inputs."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(20 * p))
    y = np.sin(20 * x) + x + 0.1 * rng.standard_normal(x.size)
    reference = rng.random(400)
    means = []
    for part in np.array_split(np.arange(x.size), p):
        kernel = lambda a, b: np.exp(-0.5 * ((a[:, None] - b) / 0.05) ** 2)
        K = kernel(x[part], x[part]) + 0.05 * np.eye(part.size)
        means.append(kernel(reference, x[part]) @ np.linalg.solve(K, y[part]))
    return np.cov(np.array(means))


def sample_covariance(p, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * p, p)) + rng.standard_normal((2 * p, 1))
    return np.cov(X.T)


def repeated_experts(p, seed=4):
    """Every expert twice."""
    S = factor_covariance(p // 2, seed)
    return np.tile(S, (2, 2))


MATRICES = {
    "factors": factor_covariance(70),
    "experts": expert_covariance(60),
    "sample": sample_covariance(50),
    "repeated": repeated_experts(40),
    "factors150": factor_covariance(150),
}


def penalty(S, ratio):
    return ratio * np.abs(S - np.diag(np.diag(S))).max()


# ---- solvers ----------------------------------------------------------------


def solve(S, lam, *flags):
    text = f"{len(S)}\n" + "\n".join(" ".join(f"{v:.17g}" for v in row) for row in S)
    run = subprocess.run(
        [PROBE, f"{lam:.17g}", *flags], input=text, capture_output=True, text=True, check=True
    )
    first, *rows = run.stdout.splitlines()
    status, objective, gap, edges, components, iterations, _ = map(float, first.split())
    assert status == 0, run.stderr
    omega = np.array([[float(v) for v in row.split()] for row in rows])
    return omega, dict(objective=objective, gap=gap, edges=int(edges), components=int(components))


def solve_with_r(S, lam, free, folder, thr=1e-9):
    np.savetxt(folder / "S.txt", S, fmt="%.17g")
    script = f"""
        library(glasso)
        S <- as.matrix(read.table("{folder}/S.txt"))
        g <- glasso(S, {lam:.17g}, thr={thr}, maxit=10000,
                    penalize.diagonal={"FALSE" if free else "TRUE"})
        write.table(format(g$wi, digits=17), "{folder}/wi.txt",
                    row.names=FALSE, col.names=FALSE, quote=FALSE)
    """
    subprocess.run(["Rscript", "-e", script], check=True, capture_output=True)
    wi = np.loadtxt(folder / "wi.txt")
    return (wi + wi.T) / 2


# ---- what must hold ---------------------------------------------------------


def weights(S, lam, free):
    L = np.full_like(S, lam)
    if free:
        np.fill_diagonal(L, 0.0)
    return L


def objective(S, omega, lam, free):
    sign, logdet = np.linalg.slogdet(omega)
    assert sign > 0
    return logdet - (S * omega).sum() - (weights(S, lam, free) * np.abs(omega)).sum()


def kkt_violation(S, omega, lam, free):
    """Of W - S = L sign(omega), or |W - S| <= L where omega = 0, per largest variance."""
    W, L = np.linalg.inv(omega), weights(S, lam, free)
    off = np.where(
        omega == 0, np.maximum(0, np.abs(W - S) - L), np.abs(W - S - L * np.sign(omega))
    )
    return off.max() / np.abs(W).max()


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("ratio", [0.3, 0.1, 0.02])
@pytest.mark.parametrize("name", MATRICES)
def test_optimality(name, ratio, free):
    S = MATRICES[name]
    lam = penalty(S, ratio)
    omega, result = solve(S, lam, "tolerance=1e-14", *(["free"] if free else []))
    assert (omega == omega.T).all()
    assert kkt_violation(S, omega, lam, free) < 1e-6
    assert abs(objective(S, omega, lam, free) - result["objective"]) < 1e-9 * len(S)
    assert result["edges"] == np.count_nonzero(np.triu(omega, 1))


@pytest.mark.parametrize("name", MATRICES)
def test_the_gap_is_a_bound(name):
    S = MATRICES[name]
    lam = penalty(S, 0.1)
    _, best = solve(S, lam, "tolerance=1e-13")
    for tolerance in (1e-2, 1e-4, 1e-6):
        _, rough = solve(S, lam, f"tolerance={tolerance}")
        missing = best["objective"] - rough["objective"]
        assert -1e-9 <= missing <= rough["gap"] + 1e-9
        assert rough["gap"] <= tolerance * max(1.0, abs(rough["objective"]))


@needs_r
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("ratio", [0.3, 0.1])
@pytest.mark.parametrize("name", ["factors", "experts", "sample", "factors150"])
def test_against_r(name, ratio, free, tmp_path):
    S = MATRICES[name]
    lam = penalty(S, ratio)
    omega, _ = solve(S, lam, "tolerance=1e-12", *(["free"] if free else []))
    theirs = solve_with_r(S, lam, free, tmp_path)
    scale = np.sqrt(np.outer(np.diag(omega), np.diag(omega)))
    assert (np.abs(omega - theirs) / scale).max() < 1e-4
    ours_value, theirs_value = objective(S, omega, lam, free), objective(S, theirs, lam, free)
    assert ours_value >= theirs_value - 1e-9  # both are feasible: the larger is the better
    assert ours_value - theirs_value < 1e-6 * max(1.0, abs(ours_value))
    clear = np.abs(theirs) / scale > 1e-4
    assert (omega[clear] != 0).all()
