"""A suite is stored with the digest of its manifest and shown with its references and margins."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from paceline_contract.announcements import manifest_digest
from paceline_contract.manifest_reader import read_manifest as read
from paceline_server.catalog.service import suite_out
from paceline_server.store.tables.catalog import Suite
from paceline_server.testing.sorting_suite import BENCHMARK, SUITE, suite_manifest


def test_the_digest_ignores_the_order_of_keys() -> None:
    raw = suite_manifest()
    assert manifest_digest(raw) == manifest_digest(dict(reversed(raw.items())))
    assert manifest_digest(raw) != manifest_digest({**raw, "suite": {}})


@pytest.mark.parametrize(
    ("own", "reference", "margin"),
    [
        ({}, "fallback", 3.0),
        ({"margin_percent": 2.0}, "fallback", 2.0),
        ({"device_reference": "native", "margin_percent": 5.0}, "native", 5.0),
    ],
)
def test_a_suite_says_what_its_benchmarks_are_compared_with_on_devices(
    own: dict[str, Any], reference: str, margin: float
) -> None:
    raw = suite_manifest()
    del raw["benchmarks"][BENCHMARK]["margin_percent"]
    raw["benchmarks"][BENCHMARK] |= own
    (shown,) = suite_out(
        Suite(
            name=SUITE,
            repository="r",
            location=None,
            manifest_path="m",
            manifest=raw,
            manifest_hash="h",
            commit="c",
            branch=None,
            updated_at=datetime.now(UTC),
        ),
        None,
    ).benchmarks
    assert (shown.reference, shown.margin_percent) == (
        "fallback",
        own.get("margin_percent", 2.0),
    )
    assert (shown.device_reference, shown.device_margin_percent) == (reference, margin)
    judged = read(raw)
    assert judged.on("host") == judged
    assert judged.on("device").benchmarks[BENCHMARK].other_arms == [
        arm for arm in ("fallback", "native") if arm != reference
    ]
