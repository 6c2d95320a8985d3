#!/usr/bin/env python3
"""Writes man/quorum_options.Rd, the page of all options, from the library's option table.

    QUORUM_LIBRARY=build/libquorum.so /usr/bin/python3 r/generate_options.py [--check]

--check writes nothing and fails when the page is out of date.
"""
import argparse
import importlib
import pathlib
import re
import sys
import textwrap
import types

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE / "man" / "quorum_options.Rd"
COMMANDS = {"fit", "predict"}


def library():
    """The library as python/quorum/_library.py declares it, without the rest of that package."""
    package = types.ModuleType("quorum")
    package.__path__ = [str(HERE.parent / "python" / "quorum")]
    sys.modules["quorum"] = package
    return importlib.import_module("quorum._library").lib


def not_of_r():
    """The options that R/options.R leaves out."""
    listed = re.search(r"not_of_r <- c\((.*?)\)", (HERE / "R" / "options.R").read_text(), re.S).group(1)
    return set(re.findall(r'"([^"]+)"', listed))


def table():
    """(name, type, default, choices, range, commands, help) of each option, as text."""
    lib, left_out = library(), not_of_r()
    for i in range(lib.quorum_option_count()):
        o = lib.quorum_option_at(i).contents
        text = {field: (getattr(o, field) or b"").decode()
                for field in ("name", "type", "default_value", "choices", "used_by", "help")}
        if text["name"] not in left_out and COMMANDS & set(text["used_by"].split()):
            yield text, (o.min, o.max)


def escaped(text):
    return re.sub(r"([%{}\\])", r"\\\1", text)


def in_r(text, names):
    """The library's help in the words of R."""
    text = re.sub(r"fit --(\w+)", r"\1 = TRUE", text)
    for name in sorted(names, key=len, reverse=True):
        if "-" in name:
            text = text.replace(name, name.replace("-", "_"))
    return text


def values(option, limits):
    if option["choices"]:
        return ", ".join(f'\\code{{"{escaped(choice)}"}}' for choice in option["choices"].split("|"))
    if option["type"] == "flag":
        return "\\code{TRUE} or \\code{FALSE}"
    if option["type"] == "text":
        return "a text, or a number"
    kind = {"count": "a whole number", "real": "a number", "bytes": "bytes, or a text such as \\code{\"4G\"}"}
    return f"{kind[option['type']]}, {limits[0]:g} to {limits[1]:g}"


def item(option, limits, names):
    name = option["name"].replace("-", "_")
    default = option["default_value"]
    used = "" if "fit" in option["used_by"].split() else " Of predictions only."
    text = (f"{escaped(in_r(option['help'], names))} Values: {values(option, limits)}; "
            + (f"default \\code{{{escaped(default)}}}." if default else "default: none.") + used)
    lines = textwrap.wrap(re.sub(r"\s+", " ", text), 100, break_on_hyphens=False, break_long_words=False)
    return "\n".join([f"  \\item{{\\code{{{name}}}}}{{" + lines[0], *("    " + line for line in lines[1:])]) + "}"


HEAD = r"""% Made by r/generate_options.py from the library's option table; do not edit.
\name{quorum_options}
\alias{quorum_options}
\alias{quorum_version}
\title{Options of Fits and Predictions}
\description{
  All options of the library, with their ranges and defaults. They are arguments of
  \code{\link{quorum}} and of \code{\link[=predict.quorum]{predict}}, by these names.
}
\usage{
quorum_options(used_by = c("fit", "predict"))

quorum_version()
}
\arguments{
  \item{used_by}{Options of fits, of predictions, or of either.}
}
\value{
  \code{quorum_options}: a data frame with a row for each option: \code{name}, \code{type}, \code{default},
  \code{choices} (separated by \code{|}), \code{min}, \code{max}, \code{used_by} and \code{help}.

  \code{quorum_version}: the version of the library, a text.
}
\details{
  Values are numbers, texts, or \code{TRUE} and \code{FALSE}; a vector is a list separated by commas. An
  underscore in a name is the command's hyphen: \code{expert_size = 250} is \code{--expert-size 250}.
  \code{NULL} leaves the library's own choice.
"""

FOOT = r"""
}
\seealso{\code{\link{quorum}}}
\examples{
head(quorum_options()[c("name", "default", "choices")])
quorum_version()
}
"""


def generate():
    options = list(table())
    names = [option["name"] for option, _ in options]
    items = "\n".join(item(option, limits, names) for option, limits in options)
    return HEAD + "\n  \\describe{\n" + items + "\n  }" + FOOT


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        TARGET.write_text(generate())
    elif not TARGET.exists() or TARGET.read_text() != generate():
        sys.exit(f"{TARGET} is out of date: make docs")


if __name__ == "__main__":
    main()
