#!/usr/bin/env python3
"""Writes quorum/_parameters.py and its types, _parameters.pyi, from the library's option table.

    QUORUM_LIBRARY=build/libquorum.so /usr/bin/python3 python/generate_parameters.py [--check]

--check writes nothing and fails when one of them is out of date.
"""
import argparse
import importlib.util
import pathlib
import re
import sys
import textwrap
import types

PACKAGE = pathlib.Path(__file__).resolve().parent / "quorum"
TYPES = {"count": "int", "real": "float", "bytes": "int or str", "flag": "bool", "text": "str"}

# What there is to say in Python only.
NOTES = {
    "theta": "A sequence of numbers, or text.",
    "lambda": "A number is absolute; \"rel:V\" and \"ebic\" are text.  Called lambda elsewhere.",
    "neighbours": "A number, or \"auto\".",
    "select": "The paper's share alpha of the experts is \"graph:ALPHA\".",
    "seed": "An int, or a RandomState that is asked for one.  None: 1, as on the command line, so "
            "that a fit can be repeated.",
    "threads": "-1: all processors, -2: all but one, and so on.",
    "memory": "A number of bytes, or text such as \"4G\".",
}


def option_module():
    """quorum._options, without importing the package (which needs the file made here)."""
    package = types.ModuleType("quorum")
    package.__path__ = [str(PACKAGE)]
    sys.modules["quorum"] = package
    spec = importlib.util.find_spec("quorum._options")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def type_text(option):
    if option.type == "flag" and option.choices:
        return "bool or " + " or ".join(f'"{choice}"' for choice in option.choices[2:])
    if option.choices:
        return "{" + ", ".join(f'"{choice}"' for choice in option.choices) + "}"
    text = {"seed": "int, RandomState", "lambda": "float or str", "neighbours": "int or str",
            "theta": "array-like or str"}.get(option.name, TYPES[option.type])
    return text + (" or None" if option.default is None else "")


def help_text(option, options):
    """The library's help in the words of Python."""
    text = re.sub(r"fit --(\w+)", r"\1=True", option.help)
    if option.default is None:
        text = text.replace("auto:", "None:")
    for other in options:
        if other.default is None:
            text = text.replace(f"{other.name} is auto", f"{other.parameter} is None")
        if "-" in other.name:
            text = text.replace(other.name, other.parameter)
    if option.type in ("count", "real", "bytes"):
        text += f"  From {option.min:g} to {option.max:g}."
    return f"{text}  {NOTES[option.name]}" if option.name in NOTES else text


def entry(name, kind, default, text):
    lines = textwrap.wrap(re.sub(r"\s+", " ", text), 88, break_on_hyphens=False)
    return [f"{name} : {kind}, default={default!r}", *("    " + line for line in lines)]


def type_hint(option):
    """What type_text says, as a type."""
    if option.type == "flag" and option.choices:
        return f"Union[bool, Literal[{', '.join(repr(choice) for choice in option.choices[2:])}]]"
    if option.choices:
        return f"Literal[{', '.join(repr(choice) for choice in option.choices)}]"
    kinds = {"array-like": "ArrayLike", "RandomState": "np.random.RandomState", "None": "None"}
    parts = [kinds.get(kind, kind) for kind in re.split(" or |, ", type_text(option))]
    return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"


def generate_types():
    hints = [(option.parameter, type_hint(option)) for option in option_module().PARAMETERS]
    hints.append(("verbose", "int"))
    return "\n".join([
        "# The parameters of QuorumRegressor.",
        "# Made by python/generate_parameters.py from the library's option table; do not edit.",
        "from typing import Any, Literal, TypeVar, Union",
        "",
        "import numpy as np",
        "from numpy.typing import ArrayLike",
        "",
        '_Self = TypeVar("_Self", bound="Parameters")',
        "",
        "class Parameters:",
        *(f"    {name}: {hint}" for name, hint in hints),
        "    def __init__(",
        "        self,",
        "        *,",
        *(f"        {name}: {hint} = ...," for name, hint in hints),
        "    ) -> None: ...",
        "    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...",
        "    def set_params(self: _Self, **params: Any) -> _Self: ...",
        ""])


def generate():
    options = option_module().PARAMETERS
    documentation, signature, body = [], [], []
    for option in options:
        documentation += entry(option.parameter, type_text(option), option.default,
                               help_text(option, options))
        signature.append(f"{option.parameter}={option.default!r}")
        body.append(option.parameter)
    documentation += entry("verbose", "int", 0, "1: lines of progress on standard error; 2: all "
                                                "of them; 0: none.")
    signature.append("verbose=0")
    body.append("verbose")
    return "\n".join([
        '"""The parameters of QuorumRegressor.',
        "",
        "Made by python/generate_parameters.py from the library's option table; do not edit.",
        '"""',
        "from sklearn.base import BaseEstimator",
        "",
        "",
        "class Parameters(BaseEstimator):",
        '    """Parameters',
        "    ----------",
        *("    " + line for line in documentation),
        '    """',
        "",
        "    def __init__(",
        "        self,",
        "        *,",
        *(f"        {argument}," for argument in signature),
        "    ):",
        *(f"        self.{name} = {name}" for name in body),
        ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for name, text in (("_parameters.py", generate()), ("_parameters.pyi", generate_types())):
        target = PACKAGE / name
        if not check:
            target.write_text(text)
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"{target} is out of date: run python/generate_parameters.py")


if __name__ == "__main__":
    main()
