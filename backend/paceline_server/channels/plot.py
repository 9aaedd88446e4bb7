"""Draws the ratios of an alert's launches as a small picture for e-mail and Slack.

One dot per launch, from faster on the left to slower on the right; a grey line where both are equal, a red one at the
limit. It has no words, because the message beside it has them all: whoever sees no pictures misses nothing.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paceline_server.channels.notices import Ratios

Canvas = NDArray[np.float64]
SCALE = 2
"""Pixels per point, for dense screens."""
WIDTH = 400
"""In points, as the height and what follows."""
MARGIN, ROW, TALLEST = 16.0, 12.0, 240.0
DOT, LINE = 3.5, 1.0
WHITE, GREY, DARK, RED = (255, 255, 255), (160, 160, 160), (60, 60, 60), (179, 38, 30)


def picture_size(ratios: Ratios) -> tuple[int, int]:
    """Return the width and height at which a message shows the picture."""
    return WIDTH, round(2 * MARGIN + min(ROW * len(ratios.values), TALLEST))


@lru_cache(maxsize=64)
def draw_ratios(ratios: Ratios) -> bytes:
    """Return a PNG of a few kilobytes. The newest are kept, because whoever has a link may fetch the same one often."""
    width, height = picture_size(ratios)
    place = _scale([*ratios.values, ratios.limit, 1.0], MARGIN, width - MARGIN)
    canvas = np.full((height * SCALE, width * SCALE, 3), WHITE, dtype=np.float64)
    rows, columns = np.indices(canvas.shape[:2]) / SCALE
    for value, colour in ((1.0, GREY), (ratios.limit, RED)):
        _paint(canvas, LINE - np.abs(columns - place(value)), colour)
    spacing = (height - 2 * MARGIN) / len(ratios.values)
    for index, value in enumerate(ratios.values):
        across, down = columns - place(value), rows - MARGIN - spacing * (index + 0.5)
        colour = RED if value > ratios.limit else DARK
        _paint(canvas, DOT - np.hypot(across, down), colour)
    return _png(canvas.round().astype(np.uint8))


def _scale(values: list[float], first: float, last: float) -> Callable[[float], float]:
    """Return where a ratio lies: twice as slow is as far from 1 as twice as fast."""
    logarithms = [math.log(value) for value in values]
    low, high = min(logarithms), max(logarithms)
    per_unit = (last - first) / (high - low or 1.0)
    return lambda value: first + (math.log(value) - low) * per_unit


def _paint(canvas: Canvas, inside: Canvas, colour: tuple[int, int, int]) -> None:
    """Blend a colour over what lies `inside` by that many points, with soft edges."""
    cover = np.clip(inside * SCALE + 0.5, 0.0, 1.0)[..., np.newaxis]
    canvas += (np.array(colour) - canvas) * cover


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Return an 8-bit RGB picture (PNG, third edition): every row begins with its filter, none."""
    height, width, _ = pixels.shape
    rows = np.hstack(
        [np.zeros((height, 1), np.uint8), pixels.reshape(height, 3 * width)]
    )
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
