"""The experiments' modules, as `quorum reproduce` sees them."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXPERIMENTS = os.path.normpath(os.path.join(HERE, "..", "..", "experiments"))
QUORUM = os.environ.get("QUORUM", "build/quorum")

sys.path.insert(0, EXPERIMENTS)
