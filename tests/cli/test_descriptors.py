"""Standard descriptors that the caller has closed: what quorum opens must not take their place."""
import itertools
import subprocess

import pytest
from conftest import QUORUM

CLOSING = {0: "<&-", 1: ">&-", 2: "2>&-"}
COMBINATIONS = [c for n in range(4) for c in itertools.combinations(CLOSING, n)]


def run_without(closed, *args):
    """Runs quorum with these descriptors closed: exit code, stdout, stderr."""
    script = 'exec "$@" ' + " ".join(CLOSING[fd] for fd in closed)
    done = subprocess.run(["sh", "-c", script, "sh", QUORUM, *map(str, args)], timeout=300,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("closed", COMBINATIONS, ids=str)
def test_predictions_hold_nothing_else(data, tmp_path, closed):
    args = ["predict", data / "model.npz", data / "queries.csv", "--verbose"]
    assert run_without((), *args, "-o", tmp_path / "want.csv")[0] == 0
    code, out, err = run_without(closed, *args, "-o", tmp_path / "out.csv")
    assert code == 0 and out == ""
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "want.csv").read_bytes()
    assert ("quorum predict" in err) == (2 not in closed)


@pytest.mark.parametrize("closed", COMBINATIONS, ids=str)
def test_a_model_is_whole(data, tmp_path, closed):
    code, out, _ = run_without(closed, "fit", data / "train.csv", "-o", tmp_path / "m.npz",
                               "--verbose", "--experts", 2, "--max-evaluations", 5)
    assert code == (1 if 1 in closed else 0)  # the summary could not be written
    assert ("300 rows" in out) == (1 not in closed)
    assert run_without((), "inspect", tmp_path / "m.npz")[0] == 0


@pytest.mark.parametrize("closed", COMBINATIONS, ids=str)
def test_a_failure_leaves_the_result_alone(data, tmp_path, closed):
    """The second line cannot be read: nothing of the complaint is in a file."""
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,oops\n")
    code, out, err = run_without(closed, "predict", data / "model.npz", bad, "-o",
                                 tmp_path / "out.csv")
    assert code == 1 and out == ""
    assert ("oops" in err) == (2 not in closed)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv"]
    assert bad.read_text() == "a,b\n1,2\n3,oops\n"


@pytest.mark.parametrize("closed", [(1,), (0, 1), (1, 2), (0, 1, 2)], ids=str)
def test_results_for_a_closed_stdout_are_a_failure(data, closed):
    for args in (["predict", data / "model.npz", data / "queries.csv"],
                 ["evaluate", data / "model.npz", data / "test.csv", "--json"],
                 ["inspect", data / "model.npz"], ["--version"]):
        code, _, err = run_without(closed, *args)
        assert code == 1
        assert ("standard output" in err) == (2 not in closed)


def test_a_closed_stdin_cannot_be_read(data):
    code, _, err = run_without((0,), "predict", data / "model.npz", "-")
    assert code == 1 and "Bad file descriptor" in err
