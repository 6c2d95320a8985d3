"""The package in a program that has set a locale with decimal commas, as a desktop program does."""
import subprocess
import sys

import pytest

# runs in a process of its own: locales come from LOCPATH, and a locale is the whole process's
JOB = """
import locale, sys
if sys.argv[1] != "C":
    locale.setlocale(locale.LC_ALL, sys.argv[1])
    assert sys.argv[1][:2] != "de" or locale.localeconv()["decimal_point"] == ","
import quorum
X, y = quorum.demo_data(300)
model = quorum.QuorumRegressor(n_experts=2, kernel="se", tolerance=1e-3, alpha="rel:0.2").fit(X, y)
model.save(sys.argv[2])
again = quorum.QuorumRegressor.load(sys.argv[2])
mean, std, lower, upper = again.predict(X[:20], return_std=True, return_interval=0.9)
for values in (mean, std, lower, upper, model.lengthscale_):
    print(values.tobytes().hex())
print(again.get_params())
try:
    model.predict(X, return_interval=7)
except quorum.ArgumentError as error:
    print(error)
"""


def run_job(name, path):
    done = subprocess.run([sys.executable, "-B", "-c", JOB, name, path], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["de_DE", "tr_TR"])
def test_the_same_bits_in_another_locale(tmp_path, monkeypatch, name):
    there = f"{name}.UTF-8"
    try:
        subprocess.run(["localedef", "-i", name, "-f", "UTF-8", tmp_path / there], check=True,
                       capture_output=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        pytest.skip(f"localedef cannot make {there} (install the package locales): {reason}")
    monkeypatch.setenv("LOCPATH", str(tmp_path))
    here = run_job("C", tmp_path / "here.npz")
    assert run_job(there, tmp_path / "there.npz") == here
    assert "0.001 to 0.999999" in here
