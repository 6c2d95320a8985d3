"""Builds the package; a wheel carries libquorum.so, made by CMake from the source tree around it.

With QUORUM_SYSTEM=1, or without that tree, the package uses the library that pkg-config finds.
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
SYSTEM = os.environ.get("QUORUM_SYSTEM") == "1" or not (SOURCE / "include/quorum.h").exists()


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
        carried = pathlib.Path(self.build_lib) / "quorum" / "libquorum.so"
        if SYSTEM:
            subprocess.run(["pkg-config", "--print-errors", "--exists", "quorum"], check=True)
            carried.unlink(missing_ok=True)  # of an earlier build
        else:
            made_in = pathlib.Path(self.get_finalized_command("build").build_temp)
            shutil.copyfile(build_library(made_in / "cmake"), carried)


class PlatformWheel(bdist_wheel):
    """Any Python 3, but only this platform."""

    def get_tag(self):
        return ("py3", "none", "any" if SYSTEM else super().get_tag()[2])


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return not SYSTEM


setup(distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
