"""The C library: where it is found, and the declarations of include/quorum.h.

`tests/test_header.py` compares the declarations with the header.
"""
import ctypes
import os
import subprocess
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_ulonglong, c_void_p

VERSION = "0.2"  # major.minor: the library must be of the same


class OptionInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("default_value", c_char_p),
                ("choices", c_char_p), ("min", c_double), ("max", c_double),
                ("placeholder", c_char_p), ("used_by", c_char_p), ("help", c_char_p)]


class Info(ctypes.Structure):
    _fields_ = [
        ("rows", c_size_t), ("inputs", c_size_t), ("experts", c_size_t),
        ("sizes", POINTER(c_size_t)), ("names", POINTER(c_char_p)),
        ("kernel", c_char_p), ("partition", c_char_p),
        ("lengthscale", POINTER(c_double)),
        ("signal_variance", c_double), ("noise_variance", c_double),
        ("at_bound", POINTER(c_int)),
        ("x_mean", POINTER(c_double)), ("x_scale", POINTER(c_double)),
        ("y_mean", c_double), ("y_scale", c_double),
        ("nlml", c_double), ("evaluations", c_int), ("train_experts", c_size_t),
        ("seconds_partition", c_double), ("seconds_train", c_double),
        ("seconds_graph", c_double), ("seconds_calibrate", c_double), ("seconds_total", c_double),
        ("seed", c_ulonglong),
        ("lambda", c_double), ("edges", c_size_t), ("precision", POINTER(c_double)),
        ("importance", POINTER(c_double)), ("ranking", POINTER(c_size_t)),
        ("calibration_rows", c_size_t), ("calibration_scale", c_double),
        ("train", c_char_p), ("train_rows", c_size_t),
        ("kernels", c_size_t), ("kernel_names", POINTER(c_char_p)),
        ("kernel_scores", POINTER(c_double)),
        ("spread", c_double),
        ("row", POINTER(c_size_t)), ("offset", POINTER(c_size_t)),
        ("named", c_int), ("options", c_char_p), ("constant", POINTER(c_int)),
        ("calibration_for", c_char_p), ("graph_trouble", c_char_p),
        ("rotation", POINTER(c_double)), ("input_lengthscale", POINTER(c_double)),
        ("neighbours", c_size_t), ("long_share", c_double), ("long_reach", c_double),
        ("trend", c_char_p), ("slope", POINTER(c_double)), ("slope_std", POINTER(c_double)),
        ("target_mean", c_double), ("target_scale", c_double), ("offset_name", c_char_p),
        ("warp", c_char_p), ("warp_shift", c_double),
        ("levels", POINTER(c_size_t)), ("level", POINTER(POINTER(c_char_p))),
        ("position", POINTER(POINTER(c_double))),
        ("weights_name", c_char_p), ("noise_name", c_char_p),
        ("columns", c_size_t), ("date", POINTER(c_char_p)),
        ("untested", c_double), ("local_noise", c_int),
        ("target_values", c_size_t), ("common_target", c_double), ("common_rows", c_size_t),
        ("first_level", POINTER(c_size_t)),
        ("longitude", c_size_t), ("latitude", c_size_t), ("place", c_size_t),
        ("chosen_method", c_char_p), ("cells_error", c_double), ("cells_gain", c_double), ("bend_at", POINTER(c_double)),
        ("bend_width", POINTER(c_double))]


class Data(ctypes.Structure):
    _fields_ = [("rows", c_size_t), ("inputs", c_size_t), ("X", c_void_p), ("y", c_void_p),
                ("names", POINTER(c_char_p)), ("target", c_size_t), ("dropped", c_size_t),
                ("converted", c_int), ("decimal_comma", c_int), ("offset", c_void_p),
                ("offset_name", c_char_p), ("offset_place", c_size_t),
                ("levels", POINTER(c_size_t)), ("level", POINTER(POINTER(c_char_p))),
                ("left_out", c_size_t), ("left_name", POINTER(c_char_p)),
                ("weight", c_void_p), ("weight_name", c_char_p), ("weight_place", c_size_t),
                ("noise_std", c_void_p), ("noise_name", c_char_p), ("noise_place", c_size_t),
                ("date", POINTER(c_char_p)), ("header_doubt", c_int),
                ("targets", c_size_t), ("target_y", POINTER(c_void_p)),
                ("target_name", POINTER(c_char_p)), ("target_place", POINTER(c_size_t))]


class Prediction(ctypes.Structure):
    _fields_ = [("mean", c_void_p), ("std", c_void_p), ("lower", c_void_p), ("upper", c_void_p),
                ("offset", c_void_p), ("probability", c_void_p), ("probabilities", c_size_t),
                ("quantile", c_void_p), ("mean_gradient", c_void_p), ("std_gradient", c_void_p),
                ("novelty", c_void_p), ("distance", c_void_p), ("noise_std", c_void_p)]


class Report(ctypes.Structure):
    _fields_ = [("experts_used", c_double), ("prior_fallbacks", c_size_t), ("clamped", c_size_t),
                ("jittered", c_size_t), ("pseudo_inverses", c_size_t), ("unsure", c_size_t),
                ("calibrated", c_int), ("seconds", c_double), ("off_constants", c_size_t),
                ("calibration_unused", c_int), ("method", c_char_p), ("outside", c_size_t),
                ("unseen", c_size_t), ("filled", c_size_t), ("filled_anew", c_size_t)]


class Suggestion(ctypes.Structure):
    _fields_ = [("candidates", c_size_t), ("targets", c_size_t), ("variance", c_double)]


class Scores(ctypes.Structure):
    _fields_ = [("n", c_size_t), ("sum_y", c_double), ("sum_yy", c_double), ("shift", c_double),
                ("sum_sq", c_double), ("sum_abs", c_double), ("sum_nlpd", c_double),
                ("sum_trivial", c_double), ("sum_crps", c_double), ("inside", c_size_t * 4),
                ("unit", c_double), ("weight", c_double), ("weight_inside", c_double * 4)]


class DistributionPoints(ctypes.Structure):
    _fields_ = [("points", c_size_t), ("u", c_double * 32), ("z", c_double * 32),
                ("lower", c_double * 4), ("upper", c_double * 4)]


class Metrics(ctypes.Structure):
    _fields_ = [("smse", c_double), ("msll", c_double), ("mae", c_double), ("rmse", c_double),
                ("nlpd", c_double), ("crps", c_double), ("coverage", c_double * 4)]


class NewRows(ctypes.Structure):
    _fields_ = [("rows", c_size_t), ("X", c_void_p), ("y", c_void_p), ("offset", c_void_p),
                ("weight", c_void_p), ("noise_std", c_void_p)]


class Forgetting(ctypes.Structure):
    _fields_ = [("row", c_void_p), ("rows", c_size_t), ("window", c_size_t)]


class UpdateReport(ctypes.Structure):
    _fields_ = [("added", c_size_t), ("removed", c_size_t), ("unseen", c_size_t),
                ("off_constants", c_size_t), ("scored", c_size_t), ("metrics", Metrics),
                ("density", c_double), ("expected", c_double), ("chance", c_double),
                ("drift", c_int)]


class Estimate(ctypes.Structure):
    _fields_ = [("value", c_double), ("low", c_double), ("high", c_double)]


class InputImportance(ctypes.Structure):
    _fields_ = [("column", c_size_t), ("also", c_size_t), ("squared_error", Estimate),
                ("nlpd", Estimate), ("first", Estimate), ("total", Estimate),
                ("lengthscale", c_double)]


class ImportanceSummary(ctypes.Structure):
    _fields_ = [("rows", c_size_t), ("once", c_size_t), ("inputs", c_size_t),
                ("squared_error", c_double), ("nlpd", c_double), ("variance", c_double)]


class EffectGrid(ctypes.Structure):
    _fields_ = [("axes", c_size_t), ("column", c_size_t * 2), ("count", c_size_t * 2),
                ("value", c_void_p * 2)]


class EffectCurves(ctypes.Structure):
    _fields_ = [("mean", c_void_p), ("lower", c_void_p), ("upper", c_void_p),
                ("support", c_void_p), ("curves", c_void_p), ("wanted", c_size_t),
                ("at", c_void_p)]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_double, c_char_p)

# name: (result, arguments); handles and arrays are addresses
FUNCTIONS = {
    "quorum_message": (c_char_p, []),
    "quorum_version": (c_char_p, []),
    "quorum_option_count": (c_int, []),
    "quorum_option_at": (POINTER(OptionInfo), [c_int]),
    "quorum_options_new": (c_void_p, []),
    "quorum_options_free": (None, [c_void_p]),
    "quorum_options_set": (c_int, [c_void_p, c_char_p, c_char_p]),
    "quorum_options_set_progress": (None, [c_void_p, PROGRESS, c_void_p]),
    "quorum_fit_data": (c_int, [POINTER(Data), c_void_p, POINTER(c_void_p)]),
    "quorum_model_free": (None, [c_void_p]),
    "quorum_save": (c_int, [c_void_p, c_char_p]),
    "quorum_model_targets": (c_size_t, [c_void_p]),
    "quorum_model_target": (c_void_p, [c_void_p, c_size_t]),
    "quorum_load_with": (c_int, [c_char_p, c_void_p, POINTER(c_void_p)]),
    "quorum_inspect": (c_int, [c_void_p, POINTER(Info)]),
    "quorum_make_inputs": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "quorum_learn_graph": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "quorum_predict": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, POINTER(Prediction),
                               POINTER(Report)]),
    "quorum_predict_targets": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p,
                                       POINTER(POINTER(Prediction)), POINTER(Report)]),
    "quorum_predict_joint": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "quorum_sample": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p]),
    "quorum_suggest": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t,
                               c_void_p, c_void_p, POINTER(Suggestion)]),
    "quorum_interval_factor": (c_double, [c_void_p, c_void_p, c_double]),
    "quorum_quantile_factor": (c_double, [c_void_p, c_void_p, c_double]),
    "quorum_distribution_of": (c_int, [c_void_p, c_void_p, POINTER(DistributionPoints)]),
    "quorum_distribution_quantile": (c_double, [POINTER(DistributionPoints), c_double]),
    "quorum_distribution_probability": (c_double, [POINTER(DistributionPoints), c_double]),
    "quorum_distribution_log_density": (c_double, [POINTER(DistributionPoints), c_double]),
    "quorum_distribution_crps": (c_double, [POINTER(DistributionPoints), c_double]),
    **{f"quorum_{what}_{side}": (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p, c_double,
                                         c_void_p])
       for what in ("probability", "improvement") for side in ("above", "below")},
    "quorum_aggregate": (c_int, [c_char_p, c_size_t, c_size_t, c_void_p, c_void_p, c_double,
                                 c_void_p, c_void_p]),
    "quorum_graphical_lasso": (c_int, [c_size_t, c_void_p, c_double, c_int, c_void_p]),
    "quorum_scores_add_weighted": (None, [POINTER(Scores), POINTER(Info), c_size_t, c_void_p,
                                          c_void_p, c_void_p, POINTER(DistributionPoints),
                                          c_void_p]),
    "quorum_scores_finish": (None, [POINTER(Scores), POINTER(Metrics)]),
    "quorum_update": (c_int, [c_void_p, POINTER(NewRows), POINTER(Forgetting), c_void_p,
                              POINTER(UpdateReport)]),
    "quorum_importance": (c_int, [c_void_p, POINTER(NewRows), c_size_t, c_void_p,
                                  POINTER(InputImportance), POINTER(ImportanceSummary)]),
    "quorum_effect": (c_int, [c_void_p, POINTER(NewRows), c_size_t, POINTER(EffectGrid), c_void_p,
                              POINTER(EffectCurves), POINTER(c_size_t)]),
    "quorum_demo_function": (c_double, [c_double]),
    "quorum_demo_data": (None, [c_size_t, c_double, c_double, c_double, c_ulonglong, c_void_p,
                                c_void_p]),
}


def _candidates():
    """Where the library may be: named by the user, in this package, on the system."""
    if os.environ.get("QUORUM_LIBRARY"):
        yield os.environ["QUORUM_LIBRARY"]
        return
    packaged = os.path.join(os.path.dirname(__file__), "libquorum.so")
    if os.path.exists(packaged):
        yield packaged
        return
    yield "libquorum.so.0"
    try:
        folder = subprocess.run(["pkg-config", "--variable=libdir", "quorum"],
                                capture_output=True, text=True, check=True).stdout.strip()
        yield os.path.join(folder, "libquorum.so.0")
    except (OSError, subprocess.CalledProcessError):
        pass


def _open():
    reasons = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)  # CDLL: the GIL is released during every call
        except OSError as reason:
            reasons.append(str(reason))
    raise ImportError("libquorum.so was not found: " + "; ".join(reasons) + ".  Install quorum "
                      "(make install), or name the file in the variable QUORUM_LIBRARY")


def _declare(library):
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"libquorum.so has no {name}: it is older than this package")
        function.restype, function.argtypes = result, arguments
    found = library.quorum_version().decode()
    if found.split(".")[:2] != VERSION.split("."):
        raise ImportError(f"libquorum.so is version {found}, this package needs {VERSION}")
    return library


lib = _declare(_open())
