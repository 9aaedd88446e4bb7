"""The median of windows and launches, against numpy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from paceline_server.stats.samples import median

FINITE = st.floats(allow_nan=False, min_value=-1e300, max_value=1e300)


@given(st.lists(FINITE, min_size=1, max_size=40))
def test_the_median_has_the_bits_of_numpys(values: list[float]) -> None:
    assert median(np.array(values)) == float(np.median(np.array(values)))
