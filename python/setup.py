"""Builds the package; a wheel carries libquorum.so, made by CMake from the source tree around it.

With QUORUM_CARRY=DIR it carries what is there instead (scripts/wheel: libraries that need glibc only) and is
tagged by what they ask of glibc.  With QUORUM_SYSTEM=1, or without that tree, the package uses the library that
pkg-config finds.
"""
import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CARRY = os.environ.get("QUORUM_CARRY")
SYSTEM = not CARRY and (os.environ.get("QUORUM_SYSTEM") == "1"
                        or not (SOURCE / "include/quorum.h").exists())


def build_library(folder):
    """The shared library alone, in Release mode; returns its path."""
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-DQUORUM_TESTS=OFF",
                    "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "quorum", "-j", jobs], check=True)
    return folder / "libquorum.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "quorum_gp"
        if CARRY:
            shutil.copytree(CARRY, package, dirs_exist_ok=True)
        elif SYSTEM:
            subprocess.run(["pkg-config", "--print-errors", "--exists", "quorum"], check=True)
            (package / "libquorum.so").unlink(missing_ok=True)  # of an earlier build
        else:
            made_in = pathlib.Path(self.get_finalized_command("build").build_temp)
            shutil.copyfile(build_library(made_in / "cmake"), package / "libquorum.so")


def platform_tag():
    """Of the libraries that are carried, by what they ask of glibc."""
    libraries = sorted(pathlib.Path(CARRY).glob("*.so"))
    return subprocess.run([SOURCE / "scripts/wheel-tag", *libraries], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


class PlatformWheel(bdist_wheel):
    """Any Python 3, but only this platform."""

    def get_tag(self):
        if CARRY:
            return ("py3", "none", platform_tag())
        return ("py3", "none", "any" if SYSTEM else super().get_tag()[2])


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return not SYSTEM


setup(distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
