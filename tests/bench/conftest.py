"""The benchmarks' modules, and the command and library of this build."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.normpath(os.path.join(HERE, "..", "..", "bench"))
QUORUM = os.path.abspath(os.environ.get("QUORUM", "build/quorum"))

sys.path.insert(0, BENCH)
os.environ.setdefault("QUORUM_LIBRARY", os.path.join(os.path.dirname(QUORUM), "libquorum.so"))
