"""Reads the committed contract, from which tests that are collected per operation or field take their parameters.

Building the application for it takes a second and more of each worker's collection. That the committed contract is the
served one is a test of its own (tests/contract/test_openapi.py).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "openapi.json"


@cache
def read_contract() -> dict[str, Any]:
    """`backend/openapi.json`."""
    return dict(json.loads(PATH.read_text(encoding="utf-8")))
