"""Compares our history detector with others on the same series, and prints accuracy and speed as a Markdown table.

`scripts/detectors` runs it in a virtual environment that has the others. Each detector gets the same values and its
own defaults, or what its documentation recommends.
"""

from __future__ import annotations

import importlib
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from paceline_server.stats.changepoint import detect, is_standing
from paceline_server.testing import histories
from paceline_server.testing.histories import History

Detector = Callable[[list[float]], list[int]]


def ours(values: list[float]) -> list[int]:
    return [change.index for change in detect(values).changes]


def otava(values: list[float]) -> list[int]:
    """Detect with Apache Otava, with its default window, p-value and magnitude."""
    analysis: Any = importlib.import_module("otava.analysis")
    change_points, _ = analysis.compute_change_points(
        values, window_len=50, max_pvalue=0.001, min_magnitude=0.0
    )
    return [int(point.index) for point in change_points]


def ruptures(values: list[float]) -> list[int]:
    """Detect kernel change points (rbf) of the winsorised logarithms, with a penalty of ln n."""
    library: Any = importlib.import_module("ruptures")
    x = np.log(values)
    padded = np.pad(x, 5, mode="edge")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 11), axis=1)
    reach = 3.0 * 1.4826 * float(np.median(np.abs(x - middle)))
    clipped = np.clip(x, middle - reach, middle + reach)
    if np.ptp(clipped) == 0.0 or x.size < 6:
        return []
    model = library.KernelCPD(kernel="rbf", min_size=3).fit(clipped[:, None])
    return [int(end) for end in model.predict(pen=math.log(x.size))[:-1]]


def asv(values: list[float]) -> list[int]:
    """Detect with airspeed velocity's step detection."""
    library: Any = importlib.import_module("asv.step_detect")
    return [int(step[0]) for step in library.detect_steps(values)[1:]]


def perfherder(values: list[float]) -> list[int]:
    """Detect as Perfherder does: where t between the 12 points before and the 12 after is highest, and above 7."""
    y, side = np.asarray(values), 12
    t = np.zeros(y.size)
    for at in range(side, y.size - side + 1):
        before, after = y[at - side : at], y[at : at + side]
        error = math.sqrt((before.var(ddof=1) + after.var(ddof=1)) / side)
        t[at] = abs(after.mean() - before.mean()) / error if error > 0 else 0.0
    near = [t[max(0, at - side) : at + side + 1].max() for at in range(y.size)]
    return [at for at in range(y.size) if t[at] > 7.0 and t[at] == near[at]]


DETECTORS: dict[str, Detector] = {
    "ours": ours,
    "Apache Otava 0.8.0": otava,
    "ruptures KernelCPD rbf": ruptures,
    "asv step_detect": asv,
    "Perfherder (t > 7)": perfherder,
}


def load_histories(
    folder: Path | None,
) -> tuple[list[History], list[History], list[History]]:
    """Return series with steps, series without, and series to replay.

    They come from a folder, or are made of seeded noise like that of several hosts.
    """
    if folder is not None:
        names = ("semi_step", "semi_null", "online")
        loaded = [
            json.loads((folder / f"{name}.json").read_text())["series"]
            for name in names
        ]
        steps, nulls, online = (
            [History(item["y"], item["truth"]) for item in series] for series in loaded
        )
        return steps, nulls, online
    families = ("white", "heavy", "two_modes", "disturbed")
    return (
        [
            history
            for family in families
            for history in histories.stepped(family, 75, seed=101)
        ],
        [
            history
            for family in families
            for history in histories.nulls(family, 30, seed=102)
        ],
        [
            history
            for family in families
            for history in histories.stepped(family, 10, seed=103, lengths=(120,))
        ],
    )


def render_online_cell(online: list[History], detector: Detector) -> str:
    hits = alert_count = step_count = 0
    delays: list[int] = []
    for history in online:
        raised = histories.replayed(history, detector, is_standing)
        alert_count += len(raised)
        step_count += len(history.truth)
        for place in history.truth:
            points_at_alert = [
                n for index, n in raised if abs(index - place) <= histories.MARGIN
            ]
            hits += bool(points_at_alert)
            delays += [min(points_at_alert) - place] if points_at_alert else []
    delay = f"{statistics.median(delays):.0f}" if delays else "none"
    return f"{hits / alert_count if alert_count else 1.0:.2f} / {hits / step_count:.2f} / {delay}"


def measure_ms(n: int, detector: Detector) -> float:
    """Return the milliseconds of a call for n points: the best of three runs over five series."""
    series = [
        history.values
        for history in histories.stepped("disturbed", 5, seed=104, lengths=(n,))
    ]
    best = math.inf
    for _ in range(3):
        began = time.process_time()
        for values in series:
            detector(values)
        best = min(best, (time.process_time() - began) / len(series))
    return 1000.0 * best


HEADINGS = (
    "detector",
    "precision / recall / F1",
    "false per 1000 (series)",
    "online P / R / delay",
    "ms at 200, 1,000",
)


def main() -> None:
    steps, nulls, online = load_histories(
        Path(sys.argv[1]) if len(sys.argv) > 1 else None
    )
    sys.stdout.write(
        "| " + " | ".join(HEADINGS) + " |\n" + "|---" * len(HEADINGS) + "|\n"
    )
    for name, detector in DETECTORS.items():
        on_steps, on_nulls = (
            histories.score(steps, detector),
            histories.score(nulls, detector),
        )
        speed = ", ".join(f"{measure_ms(n, detector):.1f}" for n in (200, 1000))
        cells = (
            name,
            f"{on_steps.precision:.3f} / {on_steps.recall:.3f} / {on_steps.f1:.3f}",
            f"{on_nulls.false_per_1000:.2f} ({100 * on_nulls.alarming:.1f} %)",
            render_online_cell(online, detector),
            speed,
        )
        sys.stdout.write("| " + " | ".join(cells) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
