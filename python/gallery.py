"""The pictures of docs/gallery.md: made into docs/gallery, or the directory given.

A made-up table of flats: the price depends on area, age and district; rooms go with area, and nobody
built between 30 and 50 years ago.
"""
import pathlib
import sys
import warnings

import matplotlib

matplotlib.use("Agg")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib import pyplot  # noqa: E402

import quorum  # noqa: E402

DISTRICTS = {"centre": 120.0, "hill": 60.0, "port": 0.0}


def make_flats(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.gamma(8, 10, n) + 15
    rooms = np.clip(np.round(area / 28 + 0.6 * rng.standard_normal(n)), 1, 8)
    age = np.where(rng.random(n) < 0.6, rng.uniform(0, 30, n), rng.uniform(50, 80, n))
    floor = rng.integers(0, 7, n).astype(float)
    district = rng.choice(list(DISTRICTS), n)
    worn = 40 * np.sin(age / 13) - 0.8 * age
    price = 3 * area + worn + 0.012 * (area - 95) * (70 - age) + [DISTRICTS[d] for d in district]
    X = pd.DataFrame({"area": area, "rooms": rooms, "age": age, "floor": floor, "district": district})
    return X, pd.Series(price + 12 * rng.standard_normal(n), name="price")


def make_others(n, seed):
    """Flats of another town: larger ones, and of all ages up to 300 years."""
    rng, (X, _) = np.random.default_rng(seed), make_flats(n, seed)
    return X.assign(area=X["area"] * rng.uniform(1, 8, n), age=rng.uniform(0, 300, n))


def draw(folder):
    """A file for each picture."""
    X, y = make_flats(500, seed=1)
    X_test, y_test = make_flats(1200, seed=2)
    X_other = make_others(600, seed=3)
    model = quorum.QuorumRegressor(kernel="se", metric="ard", calibrate=False).fit(X, y)
    plain = quorum.QuorumRegressor(kernel="se", metric="ard", calibrate=False).fit(X[:100], y[:100])
    importance = model.importance(X_test, y_test, max_rows=500)
    along = model.partial_dependence(X_test, "age", n_curves=25, max_rows=300)
    pictures = {
        "predicted": lambda ax: quorum.plot_predicted(model, X_test, y_test, ax=ax),
        "residuals": lambda ax: quorum.plot_residuals(model, X_test, y_test, by=X_test["age"], ax=ax),
        "errors": lambda ax: quorum.plot_errors(model, X_test, y_test, "age", before=plain, ax=ax),
        "coverage": lambda ax: quorum.plot_calibration(model, X_test, y_test, ax=ax),
        "width": lambda ax: quorum.plot_width(model, X_other, ax=ax),
        "novelty": lambda ax: quorum.plot_novelty(model, X_other, ax=ax),
        "rows": lambda ax: quorum.plot_rows(model, X, X_other, ("area", "age"), ax=ax),
        "importance": lambda ax: quorum.plot_importance(importance, ax=ax),
        "effect": lambda ax: quorum.plot_effect(along, ax=ax),
        "map": lambda ax: quorum.plot_map(model, X_test, ("area", "age"), ax=ax),
    }
    for name, picture in pictures.items():
        figure, ax = pyplot.subplots(figsize=(5.6, 4.4), layout="constrained")
        picture(ax)
        figure.savefig(folder / f"{name}.png", dpi=72, metadata={"Software": None})
        pyplot.close(figure)
        print("wrote", folder / f"{name}.png")


if __name__ == "__main__":
    warnings.simplefilter("ignore", quorum.BoundWarning)  # the floor does not matter
    where = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "docs" / "gallery"
    pathlib.Path(where).mkdir(parents=True, exist_ok=True)
    draw(pathlib.Path(where))
