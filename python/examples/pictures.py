"""The four plots in one picture: python.svg, or the file given."""
import sys
import warnings

import matplotlib
import numpy as np
from matplotlib import pyplot

import quorum

warnings.simplefilter("ignore", quorum.BoundWarning)  # the last input does not matter
matplotlib.rcParams["svg.hashsalt"] = "quorum"        # the same file every time

rng = np.random.default_rng(1)
X = rng.random((3000, 6))
f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
y = f + rng.standard_normal(len(X))
model = quorum.QuorumRegressor(expert_size=200, kernel="se", calibrate=True).fit(X[:2000], y[:2000])

line, target = quorum.demo_data(1000, noise=0.5, random_state=1)
curve = quorum.QuorumRegressor(n_experts=5, kernel="se").fit(line, target)

figure, axes = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained")
quorum.plot_fit(curve, line[:300], target[:300], ax=axes[0, 0])
quorum.plot_calibration(model, X[2000:], y[2000:], ax=axes[0, 1])
quorum.plot_graph(model, ax=axes[1, 0])
quorum.plot_importance(model, of="inputs", ax=axes[1, 1])
path = sys.argv[1] if len(sys.argv) > 1 else "python.svg"
figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
print("wrote", path)
