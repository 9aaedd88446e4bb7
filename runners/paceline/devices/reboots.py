"""Counts the restarts of a device on disk, so that they survive a restart of the agent.

At most PER_DAY are allowed in any 24 hours, and each is on disk before it is requested. If the file cannot be
read no restart is allowed, because a loop of restarts would be worse.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

PER_DAY = 2
"""Restarts of one device in 24 hours. More would hide that a phone is broken, and wear out its flash memory."""
DAY_S = 86_400.0


class Reboots:
    """The restarts of one device that this agent requested, in the file `path`."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock

    @property
    def left(self) -> int:
        """Return how many more may be requested now."""
        known = self._recent()
        return 0 if known is None else max(PER_DAY - len(known), 0)

    def record(self) -> None:
        """Record a restart; call it before the restart is requested. Raises OSError when it cannot be written."""
        times = [*(self._recent() or []), self._clock()]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_name(self._path.name + ".new")
        new.write_text(json.dumps(times))
        new.replace(self._path)

    def _recent(self) -> list[float] | None:
        """Return the times of the last day's restarts. A time in the future counts too: the clock was set back."""
        try:
            times = json.loads(self._path.read_text(encoding="utf-8"))
            return [float(at) for at in times if self._clock() - float(at) < DAY_S]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError):
            return None
