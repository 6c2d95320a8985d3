import os
from typing import Any, Literal, Optional, TypeVar, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._parameters import Parameters
from .distribution import Distribution
from .explain import Effect, Importance

_Array = NDArray[np.float64]
_Self = TypeVar("_Self", bound="QuorumRegressor")

class QuorumRegressor(Parameters):
    # after fit
    targets_: list[str]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    input_names_: list[str]
    kernel_: str
    lengthscale_: _Array
    rotation_: Optional[_Array]
    input_lengthscale_: _Array
    neighbours_: Optional[int]
    chosen_method_: Optional[str]
    constant_: NDArray[np.bool_]
    categories_: Optional[dict[str, dict[str, float]]]
    long_share_: float
    long_reach_: float
    signal_variance_: float
    noise_variance_: float
    inverse_lengthscale_share_: _Array
    x_mean_: _Array
    x_scale_: _Array
    bend_at_: Optional[_Array]
    bend_width_: Optional[_Array]
    y_mean_: float
    y_scale_: float
    target_mean_: float
    target_scale_: float
    warp_: str
    warp_shift_: float
    trend_: str
    slope_: Optional[_Array]
    slope_std_: Optional[_Array]
    n_experts_: int
    experts_: list[NDArray[np.intp]]
    nlml_: float
    n_rows_: int
    partition_: str
    seed_: int
    train_: str
    train_rows_: int
    evaluations_: int
    at_bound_: list[str]
    kernel_scores_: Optional[dict[str, float]]
    spread_: Optional[float]
    local_noise_: bool
    calibration_rows_: int
    calibration_scale_: float
    seconds_: dict[str, float]
    update_: list[dict[str, Any]]
    @property
    def precision_(self) -> Optional[_Array]: ...
    @property
    def importance_(self) -> Optional[_Array]: ...
    @property
    def ranking_(self) -> Optional[NDArray[np.intp]]: ...
    @property
    def alpha_(self) -> float: ...
    def fit(
        self: _Self,
        X: ArrayLike,
        y: ArrayLike,
        offset: Optional[ArrayLike] = ...,
        sample_weight: Optional[ArrayLike] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> _Self: ...
    def partial_fit(
        self: _Self,
        X: ArrayLike,
        y: ArrayLike,
        offset: Optional[ArrayLike] = ...,
        sample_weight: Optional[ArrayLike] = ...,
        noise_std: Optional[ArrayLike] = ...,
        window: Optional[int] = ...,
    ) -> _Self: ...
    def target(self: _Self, target: Union[str, int]) -> _Self: ...
    # What comes back is what was asked for: the mean alone, or a tuple of arrays.
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = ...,
        return_interval: None = ...,
        offset: Optional[ArrayLike] = ...,
        quantiles: None = ...,
        return_gradient: Literal[False] = ...,
        return_novelty: Literal[False] = ...,
        return_distance: Literal[False] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> _Array: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[True],
        return_interval: None = ...,
        offset: Optional[ArrayLike] = ...,
        quantiles: None = ...,
        return_gradient: Literal[False] = ...,
        return_novelty: Literal[False] = ...,
        return_distance: Literal[False] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> tuple[_Array, _Array]: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[False] = ...,
        *,
        return_interval: float,
        offset: Optional[ArrayLike] = ...,
        quantiles: None = ...,
        return_gradient: Literal[False] = ...,
        return_novelty: Literal[False] = ...,
        return_distance: Literal[False] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> tuple[_Array, _Array, _Array]: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: Literal[True],
        return_interval: float,
        offset: Optional[ArrayLike] = ...,
        quantiles: None = ...,
        return_gradient: Literal[False] = ...,
        return_novelty: Literal[False] = ...,
        return_distance: Literal[False] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> tuple[_Array, _Array, _Array, _Array]: ...
    @overload
    def predict(
        self,
        X: ArrayLike,
        return_std: bool = ...,
        return_interval: Optional[float] = ...,
        offset: Optional[ArrayLike] = ...,
        quantiles: Optional[ArrayLike] = ...,
        return_gradient: bool = ...,
        return_novelty: bool = ...,
        return_distance: bool = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> Any: ...
    def distribution(self) -> Distribution: ...
    def predict_probability(
        self,
        X: ArrayLike,
        above: Optional[float] = ...,
        below: Optional[float] = ...,
        offset: Optional[ArrayLike] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> _Array: ...
    def expected_improvement(
        self,
        X: ArrayLike,
        above: Optional[float] = ...,
        below: Optional[float] = ...,
        offset: Optional[ArrayLike] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> _Array: ...
    def predict_joint(
        self, X: ArrayLike, offset: Optional[ArrayLike] = ...
    ) -> tuple[_Array, _Array]: ...
    def sample_y(
        self,
        X: ArrayLike,
        n_samples: int = ...,
        random_state: Union[int, np.random.RandomState, None] = ...,
        offset: Optional[ArrayLike] = ...,
    ) -> _Array: ...
    @overload
    def suggest(
        self,
        X: ArrayLike,
        n: int = ...,
        over: Optional[ArrayLike] = ...,
        return_reduction: Literal[False] = ...,
    ) -> NDArray[np.intp]: ...
    @overload
    def suggest(
        self,
        X: ArrayLike,
        n: int = ...,
        over: Optional[ArrayLike] = ...,
        *,
        return_reduction: Literal[True],
    ) -> tuple[NDArray[np.intp], _Array]: ...
    def importance(
        self,
        X: ArrayLike,
        y: Optional[ArrayLike] = ...,
        max_rows: int = ...,
        random_state: Union[int, np.random.RandomState, None] = ...,
        offset: Optional[ArrayLike] = ...,
        sample_weight: Optional[ArrayLike] = ...,
        noise_std: Optional[ArrayLike] = ...,
    ) -> Importance: ...
    def partial_dependence(
        self,
        X: ArrayLike,
        features: Union[str, int, tuple[Union[str, int], Union[str, int]]],
        values: Optional[Any] = ...,
        n_values: Optional[int] = ...,
        n_curves: int = ...,
        interval: float = ...,
        max_rows: Optional[int] = ...,
        random_state: Union[int, np.random.RandomState, None] = ...,
        offset: Optional[ArrayLike] = ...,
        sample_weight: Optional[ArrayLike] = ...,
    ) -> Effect: ...
    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: Optional[ArrayLike] = ...
    ) -> float: ...
    def save(self, path: Union[str, os.PathLike[str]]) -> None: ...
    @classmethod
    def load(
        cls: type[_Self], path: Union[str, os.PathLike[str]], **parameters: Any
    ) -> _Self: ...
