"""Options of the library, and how they are called in Python.

The names are the library's with underscores, except for four that scikit-learn has names for.
"""
import numbers
import threading
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from ._library import PROGRESS, lib
from ._text import as_bytes
from .exceptions import OutOfMemoryError, check

SKLEARN_NAMES = {"experts": "n_experts", "lambda": "alpha", "seed": "random_state",
                 "threads": "n_jobs"}

# Options that are not parameters: those of reading files, and those that `predict` is asked for.
NOT_PARAMETERS = {"target", "ignore", "offset", "weights", "noise-std", "header", "decimal", "thousands", "comment",
                  "categorical", "dates", "query",
                  "interval", "mean-only"}


def _number(text):
    """Text that is a number as one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


@dataclass(frozen=True)
class Option:
    """One line of the library's option table."""

    name: str
    type: str
    default_text: str
    choices: tuple
    min: float
    max: float
    used_by: frozenset
    help: str

    @property
    def parameter(self):
        """The name in Python."""
        return SKLEARN_NAMES.get(self.name, self.name.replace("-", "_"))

    @property
    def default(self):
        """The default in Python; None: whatever the library does by itself."""
        return None if self.name == "seed" else self.value(self.default_text)

    def value(self, text):
        """The library's text as a Python value."""
        if text == "" or (text == "auto" and self.type in ("count", "bytes")):
            return None
        if self.name == "seed" and text == self.default_text:
            return None
        if self.type == "count":
            return int(float(text))
        if self.type == "real":
            return float(text)
        if self.type == "flag" and text not in self.choices[2:]:
            return text.lower() in ("true", "yes", "on", "1")
        return _number(text) if self.type == "text" else text


def option_table():
    """All options that are parameters, in the library's order."""
    def texts(info, *names):
        return [(getattr(info, name) or b"").decode() for name in names]

    for i in range(lib.quorum_option_count()):
        info = lib.quorum_option_at(i).contents
        name, kind, default, choices, used_by, explained = texts(
            info, "name", "type", "default_value", "choices", "used_by", "help")
        if name not in NOT_PARAMETERS:
            yield Option(name, kind, default, tuple(choices.split("|")) if choices else (),
                         info.min, info.max, frozenset(used_by.split()), explained)


PARAMETERS = tuple(option for option in option_table()
                   if option.used_by & {"fit", "predict"})
_OF_PREDICT = tuple(option.parameter for option in PARAMETERS if "predict" in option.used_by)


def as_text(value):
    """A Python value as the library reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(map(as_text, value))
    return str(value)


def _seed(value):
    """A number as it is; a generator is asked for one."""
    if isinstance(value, numbers.Integral):
        return value
    return check_random_state(value).randint(np.iinfo(np.int32).max)


def _threads(value):
    """-1: all processors, -2: all but one, as in joblib."""
    if not isinstance(value, numbers.Integral) or value >= 0:
        return value
    from joblib import cpu_count
    return max(1, cpu_count() + 1 + value)


_SPECIAL = {"seed": _seed, "threads": _threads}


_kept = threading.local()  # the options of this thread's last prediction, and the values they were made of
_PLAIN = {bool, int, float, str, type(None)}


class Options:
    """A handle of the library's options; values are checked when they are set."""

    def __init__(self, **values):
        self._handle = lib.quorum_options_new()
        if not self._handle:
            raise OutOfMemoryError("out of memory for the options")
        for name, value in values.items():
            self.set(name, value)

    @classmethod
    def of(cls, estimator, *commands):
        """The parameters of an estimator that any of the commands uses."""
        options = cls()
        for option in PARAMETERS:
            if option.used_by.intersection(commands):
                options.set(option.name, getattr(estimator, option.parameter))
        return options

    @classmethod
    def of_predict(cls, estimator, **more):
        """Those of a prediction, and more of them; the last ones of this thread where nothing has changed."""
        values = [getattr(estimator, parameter) for parameter in _OF_PREDICT] + list(more.values())
        if not _PLAIN.issuperset(map(type, values)):
            return cls._of_predict(estimator, more)
        key = tuple(more), tuple(values), tuple(map(type, values))
        if getattr(_kept, "key", None) != key:
            _kept.options, _kept.key = cls._of_predict(estimator, more), key
        return _kept.options

    @classmethod
    def _of_predict(cls, estimator, more):
        options = cls.of(estimator, "predict")
        for name, value in more.items():
            options.set(name.replace("_", "-"), value)
        return options

    def set(self, name, value):
        """Set an option by its library name; None leaves the default."""
        if value is None:
            return
        text = as_text(_SPECIAL.get(name, lambda same: same)(value))
        check(lib.quorum_options_set(self._handle, name.encode(),
                                     as_bytes(text, f"option {name}:")))

    def set_progress(self, callback):
        """Have the library call back during work; the caller keeps the callback alive."""
        lib.quorum_options_set_progress(self._handle, callback or PROGRESS(), None)

    @property
    def handle(self):
        return self._handle

    def __del__(self):
        if getattr(self, "_handle", None):
            lib.quorum_options_free(self._handle)
