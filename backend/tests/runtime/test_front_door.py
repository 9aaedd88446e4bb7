"""Tests which requests the committed Caddyfile passes on."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_front_door_keeps_metrics_and_readiness_to_itself() -> None:
    caddyfile = (ROOT / "docker/Caddyfile").read_text()
    inside = re.search(r"@inside path (.+)", caddyfile)
    assert inside is not None
    assert set(inside.group(1).split()) == {"/metrics", "/readyz"}
    assert re.search(r"respond @inside 404", caddyfile)
