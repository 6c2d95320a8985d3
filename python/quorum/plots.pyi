from typing import Any, Literal, Optional, Union

from numpy.typing import ArrayLike

from .explain import Effect, Importance
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
    regressor: Union[Importance, QuorumRegressor],
    of: Literal["experts", "inputs"] = ...,
    *,
    ax: Optional[Any] = ...,
) -> Any: ...
def plot_predicted(
    regressor: QuorumRegressor,
    X: ArrayLike,
    y: ArrayLike,
    *,
    interval: float = ...,
    ax: Optional[Any] = ...,
) -> Any: ...
def plot_residuals(
    regressor: QuorumRegressor,
    X: ArrayLike,
    y: ArrayLike,
    *,
    by: Optional[ArrayLike] = ...,
    ax: Optional[Any] = ...,
) -> Any: ...
def plot_effect(effect: Effect, *, ax: Optional[Any] = ...) -> Any: ...
def plot_map(
    regressor: QuorumRegressor,
    X: ArrayLike,
    features: tuple[Union[str, int], Union[str, int]],
    *,
    at: Optional[ArrayLike] = ...,
    n_values: int = ...,
    show: Literal["mean", "std"] = ...,
    ax: Optional[Any] = ...,
) -> Any: ...
