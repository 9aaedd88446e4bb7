"""Tests which requests the committed Caddyfile passes on, and which clients the API behind it trusts."""

from __future__ import annotations

import re
from pathlib import Path

from paceline_server.kernel.settings import load_settings

ROOT = Path(__file__).resolve().parents[3]


def test_the_front_door_keeps_metrics_and_readiness_to_itself() -> None:
    caddyfile = (ROOT / "docker/Caddyfile").read_text()
    inside = re.search(r"@inside path (.+)", caddyfile)
    assert inside is not None
    assert set(inside.group(1).split()) == {"/metrics", "/readyz"}
    assert re.search(r"respond @inside 404", caddyfile)


def test_the_api_trusts_client_addresses_from_the_front_door() -> None:
    match = re.search(
        r"PACELINE_TRUSTED_PROXIES: (\S+)", (ROOT / "docker-compose.yml").read_text()
    )
    assert match is not None
    assert load_settings({"PACELINE_TRUSTED_PROXIES": match.group(1)}).proxies
