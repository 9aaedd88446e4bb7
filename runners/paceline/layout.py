"""Draws another memory layout for each launch, so that its bias is noise between launches and not a bias of all.

The size of the environment moves a process's stack (Mytkowicz et al., ASPLOS 2009), and a harness that keeps a copy of
`PACELINE_LAYOUT` moves its heap by as much. The size follows from what the launch's stream states and its side, so that
a rerun is the same. A launch that starts another tool in each round draws one for each of them, too. A suite that declares
the variable in a workload's `env` sets it for all launches and rounds.
"""

from __future__ import annotations

import hashlib
import os
from typing import Final

from paceline_contract.items import SideName

LAYOUT_VARIABLE: Final = "PACELINE_LAYOUT"
"""The variable whose value is as long as the padding; nothing else about it matters."""
STEP_BYTES: Final = 16
"""Stacks and blocks of a heap are aligned to so many bytes; 256 of them are a page."""


def draw_layout_bytes(
    seed: int, launch: int, workload: str, side: SideName | None
) -> int:
    """Return the size of a launch's padding, below 4,096 bytes. `seed` is the launch's own.

    Base and head of a launch pair draw independently. With equal paddings, equal code would share what its layout does to
    it, and an A/A job would show less noise than head has against base, whose code lies elsewhere in any case.
    """
    return _draw_bytes(f"layout:{seed}:{launch}:{workload}:{side or ''}")


def draw_round_layout(
    seed: int, launch: int, workload: str, number: int
) -> dict[str, str]:
    """Return the padding of what the launch that this process is starts in round `number`; round 0 has the launch's own.

    It follows from the launch's, so that base and head draw independently. The arms of a round share it, as arms in one
    process do (decision 0009), so that what a layout does to both cancels in their pair.
    """
    inherited = inherited_layout()
    if number == 0 or not inherited:
        return inherited
    launch_bytes = len(inherited[LAYOUT_VARIABLE])
    return layout_environment(
        _draw_bytes(f"layout:{seed}:{launch}:{workload}:{launch_bytes}:{number}")
    )


def _draw_bytes(text: str) -> int:
    return STEP_BYTES * hashlib.sha256(text.encode()).digest()[0]


def layout_environment(layout_bytes: int) -> dict[str, str]:
    """Return the variable with a padding of this size."""
    return {LAYOUT_VARIABLE: "." * layout_bytes}


def inherited_layout() -> dict[str, str]:
    """Return the padding of the launch that this process is, for a program that it starts."""
    value = os.environ.get(LAYOUT_VARIABLE)
    return {} if value is None else {LAYOUT_VARIABLE: value}
