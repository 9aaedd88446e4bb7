"""A pytest plugin that sets the one profile of Hypothesis for all tests.

Hypothesis fails an example that takes longer than its deadline, which says only how loaded the machine is.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("paceline", deadline=None)
settings.load_profile("paceline")
