"""Experts of your own: join scikit-learn's GPs by quorum's rules, and see who depends on whom."""
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import quorum

X, y = quorum.demo_data(600, noise=0.3, random_state=2)
queries, truth = quorum.demo_data(300, noise=0.0, random_state=3)
center = y.mean()

kernel = ConstantKernel(6.0) * RBF(0.15)
parts = np.array_split(np.argsort(X[:, 0]), 6)  # neighbouring regions
experts = [GaussianProcessRegressor(kernel + WhiteKernel(0.09), optimizer=None)
           .fit(X[rows], y[rows] - center) for rows in parts]
answers = [expert.predict(queries, return_std=True) for expert in experts]
mean = np.array([m for m, _ in answers])
variance = np.array([s ** 2 - 0.09 for _, s in answers])  # of the function, without the noise

for method in ("rbcm", "bcm", "gpoe", "poe", "single"):
    joined, spread = quorum.aggregate(mean, variance, method, prior_variance=6.0)
    error = np.sqrt(np.mean((joined + center - truth) ** 2))
    print(f"{method:6}  RMSE {error:.3f}, mean std {np.sqrt(spread).mean():.3f}")

for alpha in (0.01, 0.1, 1.0):
    precision = quorum.graphical_lasso(np.cov(mean), alpha)
    print(f"alpha {alpha:4}  {np.count_nonzero(np.triu(precision, 1))} edges of 15")
