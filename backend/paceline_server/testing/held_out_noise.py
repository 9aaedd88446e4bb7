"""Ten families of noise that were written after the history detector was fixed, to judge it by.

`python -m paceline_server.testing.held_out_noise FOLDER` writes the three sets of docs/detection.md for
`scripts/detectors FOLDER`. A seed always gives the same series. Nothing is shared with `histories`, whose families
were used to choose the detector: a constant chosen by these families would make them useless.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator
Noise = Callable[[Rng, int, float], Any]

SEED = 20_261_121
"""The seed of the published table, drawn before anything was scored."""


def _ar(shocks: Any, phi: float) -> Any:
    """AR(1) with the scatter of the shocks, its first 100 points left out."""
    x = np.zeros(shocks.size)
    for t in range(1, shocks.size):
        x[t] = phi * x[t - 1] + shocks[t]
    return x[100:] * np.sqrt(1.0 - phi**2)


def gamma(rng: Rng, n: int, sigma: float) -> Any:
    shape = rng.uniform(0.8, 3)
    return sigma * (rng.gamma(shape, 1, n) - shape) / np.sqrt(shape)


def lognormal(rng: Rng, n: int, sigma: float) -> Any:
    s = rng.uniform(0.4, 1.0)
    mean = np.exp(s * s / 2)
    return (
        sigma
        * (rng.lognormal(0, s, n) - mean)
        / np.sqrt((np.exp(s * s) - 1) * np.exp(s * s))
    )


def sticky(rng: Rng, n: int, sigma: float) -> Any:
    """Two modes 3 to 10 core sigma apart that last 3 to 20 points on average."""
    core = sigma / 3
    gap = rng.uniform(3, 10) * core * rng.choice([-1, 1])
    stays = np.exp(rng.uniform(np.log(3), np.log(20), 2))
    modes, mode = np.zeros(n, int), int(rng.random() < 0.5)
    for t in range(n):
        if rng.random() < 1 / stays[mode]:
            mode = 1 - mode
        modes[t] = mode
    return core * rng.normal(size=n) + gap * modes


def ar05(rng: Rng, n: int, sigma: float) -> Any:
    return sigma * _ar(rng.normal(size=n + 100), 0.5)


def ar03t4(rng: Rng, n: int, sigma: float) -> Any:
    return sigma * _ar(rng.standard_t(4, size=n + 100) / np.sqrt(2), 0.3)


def wander(rng: Rng, n: int, sigma: float) -> Any:
    return sigma * rng.normal(size=n) + np.cumsum(
        rng.normal(0, rng.uniform(0.03, 0.08) * sigma, n)
    )


def drift(rng: Rng, n: int, sigma: float) -> Any:
    return (
        sigma * rng.normal(size=n)
        + rng.choice([-1, 1]) * rng.uniform(0.02, 0.04) * np.arange(n) / 250
    )


def weekly(rng: Rng, n: int, sigma: float) -> Any:
    """Return a sine, or the last two days of every seven."""
    period, shape = int(rng.choice([7, 14, 21])), rng.choice(["sine", "weekend"])
    t = np.arange(n) + rng.integers(period)
    late = np.where(t % period >= period * 5 // 7, 1.5, 0.0)
    wave = np.sin(2 * np.pi * t / period) if shape == "sine" else late
    return sigma * rng.normal(size=n) + rng.uniform(0.5, 2) * sigma * wave


def weeks(rng: Rng, n: int, sigma: float) -> Any:
    """Every third week or so scatters 2.5 to 6 times as much."""
    out, t = np.empty(n), 0
    while t < n:
        length = int(rng.integers(7, 22))
        times = rng.uniform(2.5, 6) if rng.random() < 0.3 else 1.0
        out[t : t + length] = sigma * times * rng.normal(size=min(length, n - t))
        t += length
    return out


def white(rng: Rng, n: int, sigma: float) -> Any:
    return sigma * rng.normal(size=n)


FAMILIES: dict[str, Noise] = {
    "gamma": gamma,
    "lognormal": lognormal,
    "sticky": sticky,
    "ar05": ar05,
    "ar03t4": ar03t4,
    "wander": wander,
    "drift": drift,
    "weekly": weekly,
    "quantised": white,
    "weeks": weeks,
}

AROUND = ("wander", "drift", "weeks")
"""Families whose sigma is measured around the trend, or in the quiet weeks; for others it is that of all noise."""


def series(rng: Rng, family: str, n: int, steps: int) -> dict[str, Any]:
    """One series of the shared sets' form: `y`, `truth` and `meta` with its family."""
    sigma = float(np.exp(rng.uniform(np.log(0.004), np.log(0.03))))
    raster = sigma * rng.uniform(0.7, 3) if family == "quantised" else 0.0
    noise = FAMILIES[family](rng, n, sigma)
    scale = sigma if family in AROUND else float(np.std(noise))
    truth: list[int] = []
    level = np.zeros(n)
    for _ in range(steps):
        at = _place(rng, n, truth)
        if at is None:
            continue
        size = max(0.02, float(np.exp(rng.uniform(0, np.log(8)))) * scale)
        level[at:] += size * rng.choice([-1, 1])
        truth.append(at)
    x = noise + level
    if raster:
        x = np.round((x + rng.random() * raster) / raster) * raster
    y = np.exp(x) * float(np.exp(rng.uniform(np.log(5), np.log(5e6))))
    return {
        "y": y.tolist(),
        "truth": sorted(truth),
        "meta": {"family": family, "sd": scale},
    }


def _place(rng: Rng, n: int, truth: list[int]) -> int | None:
    """Return a place 20 points from the beginning, 15 from the end and 25 from other steps; None after 200 draws."""
    for _ in range(200):
        at = int(rng.integers(20, n - 15))
        if all(abs(at - other) >= 25 for other in truth):
            return at
    return None


def sets(
    stepped: int = 60, nulls: int = 60, online: int = 10
) -> dict[str, list[dict[str, Any]]]:
    """Return the three sets by the names of their files, with this many series of each family."""
    rng = np.random.default_rng(SEED)
    groups: dict[str, list[dict[str, Any]]] = {
        "semi_step": [],
        "semi_null": [],
        "online": [],
    }
    for family in FAMILIES:
        groups["semi_step"] += [
            series(rng, family, int(rng.integers(80, 401)), int(rng.integers(1, 4)))
            for _ in range(stepped)
        ]
        groups["semi_null"] += [series(rng, family, 250, 0) for _ in range(nulls)]
        groups["online"] += [
            series(rng, family, int(rng.integers(90, 131)), 1) for _ in range(online)
        ]
    return groups


def write(folder: Path) -> None:
    """The sets as files that `scripts/detectors FOLDER` and `score.py` read."""
    for name, group in sets().items():
        (folder / f"{name}.json").write_text(
            json.dumps({"series": group}), encoding="utf-8"
        )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
