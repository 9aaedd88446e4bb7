"""Counts the restarts of a device on disk, so that a restart of the agent does not forget them.

At most PER_DAY in any 24 hours of wall-clock time. A restart is on disk before it is requested. A file that
cannot be read counts as full, because leaving a device alone is better than restarting it in a loop.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

PER_DAY = 2
"""Restarts of one device in 24 hours (issue 5); more hide a broken phone and wear its flash."""
DAY_S = 86_400.0


class Reboots:
    """The restarts of one device that this agent asked for; `path` is its file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock

    @property
    def left(self) -> int:
        """How many more may be asked for now."""
        known = self._recent()
        return 0 if known is None else max(PER_DAY - len(known), 0)

    def note(self) -> None:
        """Counts one, before it is asked for. Raises OSError when the disk does not take it."""
        times = [*(self._recent() or []), self._clock()]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_name(self._path.name + ".new")
        new.write_text(json.dumps(times))
        new.replace(self._path)

    def _recent(self) -> list[float] | None:
        """Those of the last day; one of the future (a clock set back) counts as well."""
        try:
            times = json.loads(self._path.read_text(encoding="utf-8"))
            return [float(at) for at in times if self._clock() - float(at) < DAY_S]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError):
            return None
