"""A pytest plugin that sets the one profile of Hypothesis for all tests.

Hypothesis fails an example that takes longer than its deadline, which says only how loaded the machine is. Only a long
run draws other examples each time: elsewhere a test fails by a change, not by chance.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile(
    "paceline",
    deadline=None,
    derandomize=os.environ.get("PACELINE_TEST_LENGTH") != "long",
)
settings.load_profile("paceline")
