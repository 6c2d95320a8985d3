from typing import Any, Literal, Optional

from numpy.typing import ArrayLike

from .regressor import QuorumRegressor

# Axes of matplotlib, which has no types of its own, in and out.
def plot_fit(
    regressor: QuorumRegressor,
    X: ArrayLike,
    y: Optional[ArrayLike] = ...,
    *,
    interval: float = ...,
    ax: Optional[Any] = ...,
) -> Any: ...
def plot_graph(regressor: QuorumRegressor, *, ax: Optional[Any] = ...) -> Any: ...
def plot_calibration(
    regressor: QuorumRegressor, X: ArrayLike, y: ArrayLike, *, ax: Optional[Any] = ...
) -> Any: ...
def plot_importance(
    regressor: QuorumRegressor,
    of: Literal["experts", "inputs"] = ...,
    *,
    ax: Optional[Any] = ...,
) -> Any: ...
