from typing import Any, Optional, Union

from numpy.typing import ArrayLike

from .regressor import QuorumRegressor

# Axes of matplotlib, which has no types of its own, in and out.
def plot_errors(
    regressor: QuorumRegressor,
    X: ArrayLike,
    y: ArrayLike,
    by: Union[str, int, ArrayLike],
    *,
    before: Optional[QuorumRegressor] = ...,
    ax: Optional[Any] = ...,
) -> Any: ...
def plot_width(
    regressor: QuorumRegressor, X: ArrayLike, *, interval: float = ..., ax: Optional[Any] = ...
) -> Any: ...
def plot_novelty(regressor: QuorumRegressor, X: ArrayLike, *, ax: Optional[Any] = ...) -> Any: ...
def plot_rows(
    regressor: QuorumRegressor,
    X: ArrayLike,
    X_asked: ArrayLike,
    features: Optional[tuple[Union[str, int], Union[str, int]]] = ...,
    *,
    ax: Optional[Any] = ...,
) -> Any: ...
