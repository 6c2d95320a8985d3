"""Work that a team does together, called from C (team_work.c): no command in between."""
import os

import pytest
from conftest import ENVIRONMENT, RANKS, finish

TEAM_WORK = os.path.abspath(os.environ.get("TEAM_WORK", "team_work"))


@pytest.mark.parametrize("ranks", RANKS)
def test_results_reach_all_and_failures_too(ranks):
    if not os.access(TEAM_WORK, os.X_OK):
        pytest.skip("team_work is missing")
    finish(["mpirun", "-np", ranks, TEAM_WORK], 0, ENVIRONMENT)
