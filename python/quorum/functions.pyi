from typing import Any, Literal, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .distribution import Distribution

_Array = NDArray[np.float64]

def graphical_lasso(
    covariance: ArrayLike, alpha: float, *, free_diagonal: bool = ...
) -> _Array: ...
def aggregate(
    mean: ArrayLike,
    variance: ArrayLike,
    method: str = ...,
    *,
    prior_variance: float,
    prior_mean: float = ...,
) -> tuple[_Array, _Array]: ...
def metrics(
    y_true: ArrayLike,
    mean: ArrayLike,
    std: ArrayLike,
    *,
    train_mean: Optional[float] = ...,
    train_std: Optional[float] = ...,
    distribution: Optional[Distribution] = ...,
    warp: Literal["none", "log"] = ...,
    warp_shift: float = ...,
    sample_weight: Optional[ArrayLike] = ...,
) -> dict[str, Any]: ...
def demo_data(
    n: int, low: float = ..., high: float = ..., noise: float = ..., random_state: int = ...
) -> tuple[_Array, _Array]: ...
def demo_function(X: ArrayLike) -> _Array: ...
