"""scikit-learn's GaussianProcessRegressor on a random subset that it can hold."""
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import peer

BLOCK = 2000  # queries at a time


def fit(X, y, args):
    rows = np.random.default_rng(args.seed).permutation(len(X))[:args.rows]
    D = X.shape[1]
    kernel = (ConstantKernel(1.0, (1e-4, 1e4)) * RBF(np.full(D, np.sqrt(D)), (1e-3, 300.0))
              + WhiteKernel(0.1, (1e-6, 10.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # length-scales on their bounds
        return GaussianProcessRegressor(kernel, alpha=0.0).fit(X[rows], y[rows])


def predict(model, X):
    parts = [model.predict(X[i:i + BLOCK], return_std=True) for i in range(0, len(X), BLOCK)]
    return np.concatenate([m for m, _ in parts]), np.concatenate([s for _, s in parts])


if __name__ == "__main__":
    peer.main(fit, predict, lambda parser: parser.add_argument("--rows", type=int, default=1000))
