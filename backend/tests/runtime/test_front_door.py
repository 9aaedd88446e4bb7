"""What the committed front door passes on, and whom the API behind it believes."""

from __future__ import annotations

import re
from pathlib import Path

from paceline_server.kernel.settings import load_settings

ROOT = Path(__file__).resolve().parents[3]


def test_the_front_door_keeps_metrics_and_readiness_to_itself() -> None:
    said = (ROOT / "docker/Caddyfile").read_text()
    inside = re.search(r"@inside path (.+)", said)
    assert inside is not None
    assert set(inside.group(1).split()) == {"/metrics", "/readyz"}
    assert re.search(r"respond @inside 404", said)


def test_the_api_behind_the_front_door_believes_its_word_on_clients() -> None:
    said = re.search(
        r"PACELINE_TRUSTED_PROXIES: (\S+)", (ROOT / "docker-compose.yml").read_text()
    )
    assert said is not None
    assert load_settings({"PACELINE_TRUSTED_PROXIES": said.group(1)}).proxies
