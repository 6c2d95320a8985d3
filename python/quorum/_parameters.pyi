# The parameters of QuorumRegressor.
# Made by python/generate_parameters.py from the library's option table; do not edit.
from typing import Any, Literal, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike

_Self = TypeVar("_Self", bound="Parameters")

class Parameters:
    share: Literal['none', 'theta']
    missing: Literal['error', 'drop', 'nan', 'impute']
    encoding: Literal['position', 'distance', 'auto']
    unseen: Literal['predict', 'error']
    periodic: str
    lonlat: str
    n_experts: Union[int, None]
    expert_size: int
    partition: Literal['kmeans', 'kdtree', 'random', 'communication']
    min_size: Union[int, None]
    max_size: Union[int, None]
    overlap: float
    kernel: Literal['se', 'matern12', 'matern32', 'matern52', 'matern32x2', 'matern32x3', 'matern52x2', 'auto']
    theta: Union[ArrayLike, str, None]
    train: Literal['neighbours', 'parts', 'random', 'subset']
    train_rows: int
    metric: Literal['auto', 'ard', 'linear']
    partition_metric: Literal['learned', 'input']
    trend: Literal['auto', 'none', 'constant', 'linear']
    warp: Literal['none', 'log', 'auto']
    input_warp: Literal['none', 'asinh']
    train_experts: Union[int, None]
    restarts: int
    max_evaluations: int
    tolerance: float
    spread: str
    local_noise: Literal['auto', 'yes', 'no']
    graph: Literal['auto', 'glasso', 'lasso', 'none']
    alpha: Union[float, str]
    free_diagonal: bool
    graph_rows: int
    method: str
    select: str
    neighbours: Union[int, str]
    space: Literal['latent', 'observed']
    graph_on: Literal['train', 'test']
    interval_shape: Literal['auto', 'symmetric']
    calibration: Literal['auto', 'off']
    latent: bool
    calibrate: Union[bool, Literal['strict', 'auto']]
    checkpoint: Union[str, None]
    start: Union[str, None]
    random_state: Union[int, np.random.RandomState, None]
    n_jobs: Union[int, None]
    memory: Union[int, str, None]
    verbose: int
    def __init__(
        self,
        *,
        share: Literal['none', 'theta'] = ...,
        missing: Literal['error', 'drop', 'nan', 'impute'] = ...,
        encoding: Literal['position', 'distance', 'auto'] = ...,
        unseen: Literal['predict', 'error'] = ...,
        periodic: str = ...,
        lonlat: str = ...,
        n_experts: Union[int, None] = ...,
        expert_size: int = ...,
        partition: Literal['kmeans', 'kdtree', 'random', 'communication'] = ...,
        min_size: Union[int, None] = ...,
        max_size: Union[int, None] = ...,
        overlap: float = ...,
        kernel: Literal['se', 'matern12', 'matern32', 'matern52', 'matern32x2', 'matern32x3', 'matern52x2', 'auto'] = ...,
        theta: Union[ArrayLike, str, None] = ...,
        train: Literal['neighbours', 'parts', 'random', 'subset'] = ...,
        train_rows: int = ...,
        metric: Literal['auto', 'ard', 'linear'] = ...,
        partition_metric: Literal['learned', 'input'] = ...,
        trend: Literal['auto', 'none', 'constant', 'linear'] = ...,
        warp: Literal['none', 'log', 'auto'] = ...,
        input_warp: Literal['none', 'asinh'] = ...,
        train_experts: Union[int, None] = ...,
        restarts: int = ...,
        max_evaluations: int = ...,
        tolerance: float = ...,
        spread: str = ...,
        local_noise: Literal['auto', 'yes', 'no'] = ...,
        graph: Literal['auto', 'glasso', 'lasso', 'none'] = ...,
        alpha: Union[float, str] = ...,
        free_diagonal: bool = ...,
        graph_rows: int = ...,
        method: str = ...,
        select: str = ...,
        neighbours: Union[int, str] = ...,
        space: Literal['latent', 'observed'] = ...,
        graph_on: Literal['train', 'test'] = ...,
        interval_shape: Literal['auto', 'symmetric'] = ...,
        calibration: Literal['auto', 'off'] = ...,
        latent: bool = ...,
        calibrate: Union[bool, Literal['strict', 'auto']] = ...,
        checkpoint: Union[str, None] = ...,
        start: Union[str, None] = ...,
        random_state: Union[int, np.random.RandomState, None] = ...,
        n_jobs: Union[int, None] = ...,
        memory: Union[int, str, None] = ...,
        verbose: int = ...,
    ) -> None: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
    def set_params(self: _Self, **params: Any) -> _Self: ...
