"""Tests of reading prose around a log: the policy in force, and claims that the figures contradict."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from paceline.formats import logcat
from paceline.formats.ledger_prose import ProseClaim
from paceline.formats.logcat import LogContents
from paceline.formats.raw_lines import lines_of

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (
        Path(__file__).parents[2]
        / "native"
        / "protocol"
        / "vectors"
        / "claims.golden.json"
    ).read_text("utf-8")
)
TABLE = {
    ("Pixel 5 Emulator", 34, "sdk_gphone64_x86_64", ""): {
        1000: ("211.35", "233.67"),
        5000: ("624.90", "948.74"),
        10000: ("877.67", "1011.73"),
    },
    ("Xiaomi 13T Pro", 35, "23078PND5G", " \u2013 bez warm-up"): {
        1000: ("9.79", "7.83"),
        5000: ("31.52", "36.17"),
        10000: ("36.89", "59.18"),
    },
    ("Xiaomi 13T Pro", 35, "23078PND5G", " \u2013 warm-up (1 round)"): {
        1000: ("13.43", "11.93"),
        5000: ("37.74", "40.46"),
        10000: ("57.05", "66.79"),
    },
}
"""The original's summary: (native, fallback) in ms, as it printed them."""

DELTAS = [-22.32, -323.84, -134.06, 1.96, -4.65, -22.29, 1.50, -2.72, -9.74]
CLAIM = (
    "- For small batches (1\u202f000 items) the Xiaomi 13T Pro shows a ~20% slowdown on the native path "
    "versus fallback (likely JNI warm-up)."
)
POLICY = """\
## Native Usage Policy (Implemented)
- Minimalny batch dla ścieżki JNI: **2\u202f000 odcisków** (mniejsze partie korzystają z fallbacku Kotlin).
- Warm-up: **1 runda** przed pierwszym batch\u2019em, aby zminimalizować narzut rozgrzewki.
1. **Warm-up / batching policy:** Polityka 2 000 + warm-up wdrożona; monitorować rundy.
"""


def snippets() -> str:
    output = []
    for (name, api, model, note), rows in TABLE.items():
        output.append(f"{name} (API {api}){note}")
        prefix = "10-31 14:27:03.505 I LightLedgerBenchmark: "
        output.append(f"{prefix}Benchmark on {model} (API {api})")
        for batch, (native, fallback) in rows.items():
            for arm, ms in (("fallback", fallback), ("native ", native)):
                each = f"{float(ms) / batch:.2f}"
                output.append(
                    f"{prefix}Batch {batch}: {arm} avg={ms} ms ({each} ms/hash)"
                )
        output.append("")
    return "\n".join(output)


def summary() -> str:
    return f"# Light Ledger Benchmark Summary\n\n{CLAIM}\n\n{POLICY}\n```\n{snippets()}```\n"


def read(text: str) -> LogContents:
    return logcat.read(lines_of([text.encode()]))


def test_the_raw_snippets_reproduce_the_origins_table() -> None:
    log = read(snippets())
    assert not log.problems
    assert [
        (session.heading.name, session.api)
        for session in log.sessions
        if session.heading is not None
    ] == [(name, api) for name, api, _, _ in TABLE]
    rows = [row for session in log.sessions for row in session.rows]
    printed = {(row.batch, row.average.printed, row.fallback.printed) for row in rows}
    assert printed == {
        (batch, f"{native} ms", f"{fallback} ms")
        for rows in TABLE.values()
        for batch, (native, fallback) in rows.items()
    }
    assert len(rows) * 2 == 18
    assert [row.difference_ns for row in rows] == [
        int(Fraction(f"{delta:.2f}") * 10**6) for delta in DELTAS
    ]
    assert [row.words for row in rows] == [
        "native 9.6 % faster than fallback",
        "native 34.1 % faster than fallback",
        "native 13.3 % faster than fallback",
        "native 25.0 % slower than fallback",
        "native 12.9 % faster than fallback",
        "native 37.7 % faster than fallback",
        "native 12.6 % slower than fallback",
        "native 6.7 % faster than fallback",
        "native 14.6 % faster than fallback",
    ]
    assert all(row.comparison.startswith("insufficient: no samples") for row in rows)
    assert [
        session.heading.warmup_rounds
        for session in log.sessions
        if session.heading is not None
    ] == [None, 0, 1]


def test_a_sentence_that_the_figures_contradict_is_on_each_row_it_is_about() -> None:
    log = read(summary())
    notes = {
        (session.line, row.batch): row.notes
        for session in log.sessions
        for row in session.rows
        if row.notes
    }
    assert list(notes.values()) == [
        [
            "line 3 says ~20 % slower; the printed averages say native 25.0 % slower than fallback"
        ],
        [
            "line 3 says ~20 % slower; the printed averages say native 12.6 % slower than fallback"
        ],
    ]
    assert {batch for _, batch in notes} == {1000}


def test_a_sentence_that_is_right_or_about_another_device_leaves_no_note() -> None:
    right = summary().replace("~20%", "~25%")
    rows = [row for session in read(right).sessions for row in session.rows]
    assert [row.share for row in rows if row.notes] == [0.1257]
    other = summary().replace("the Xiaomi 13T Pro shows", "the Pixel 5 Emulator shows")
    (row,) = [
        row for session in read(other).sessions for row in session.rows if row.notes
    ]
    assert row.average.printed == "211.35 ms"


def test_the_policy_in_force_is_read_in_both_languages() -> None:
    policy = read(summary()).policy
    assert policy is not None
    assert (policy.minimum, policy.unit, policy.warmup_rounds) == (2000, "odcisków", 1)
    assert len(policy.lines) == 2
    english = "- Minimum native batch: **2,000** items\n* Warm-up: 3 rounds before the first batch\n"
    policy = read(english).policy
    assert policy is not None
    assert (policy.minimum, policy.warmup_rounds) == (2000, 3)


@pytest.mark.parametrize(
    "text",
    [
        "- Warm-up: 1 round\n",
        "Minimum batch: soon\n",
        "10-31 10:00:00.000 I App: Minimum batch: 5\n",
        "",
    ],
)
def test_a_sentence_without_a_minimum_is_no_policy(text: str) -> None:
    assert read(text).policy is None


@pytest.mark.parametrize(
    "text",
    [
        "native is 10 % slower for 1000 items and 20 % slower for 5000 items",
        "native is slower",
        "native is 10 % slower",
        "10 % slower for 1000 items",
        "native is slower or faster by 10 % for 1000 items",
        "x" * 3000 + " native 10 % slower for 1000 items",
    ],
)
def test_a_sentence_that_does_not_say_how_much_of_what_claims_nothing(
    text: str,
) -> None:
    assert read(text).claims == []


@pytest.mark.parametrize(
    ("printed", "about", "low", "high", "holds"),
    [
        ("20", True, 0.21, 0.212, True),
        ("20", True, 0.221, 0.23, False),
        ("20", False, 0.204, 0.206, True),
        ("20", False, 0.206, 0.207, False),
        ("12.5", False, 0.1244, 0.1246, True),
        ("12.5", False, 0.1256, 0.1257, False),
    ],
)
def test_a_claim_holds_within_its_own_precision(
    printed: str, about: bool, low: float, high: float, holds: bool
) -> None:
    claim = ProseClaim(1, 1000, float(printed), about, printed, "")
    assert claim.holds(low, high) is holds


def test_thousands_grouped_by_any_blank_are_one_number() -> None:
    for blank in (" ", "\u00a0", "\u2009", "\u202f", ",", "."):
        policy = read(f"Minimum batch: **2{blank}000** items\n").policy
        assert policy is not None
        assert policy.minimum == 2000


def claim(text: str = "", **said: Any) -> ProseClaim:
    return ProseClaim(
        **{
            "line": 1,
            "batch": 1000,
            "percent": 0.0,
            "about": False,
            "printed": "0",
            **said,
        },
        text=text,
    )


@pytest.mark.parametrize("vector", VECTORS["named"], ids=lambda vector: vector["text"])
def test_a_sentence_is_about_the_devices_the_server_takes_it_to_be_about(
    vector: dict[str, Any],
) -> None:
    names = vector["devices"]
    result = [name for name in names if claim(vector["text"]).about_device(name, names)]
    assert sorted(result) == sorted(vector["named"])


@pytest.mark.parametrize("vector", VECTORS["holds"], ids=str)
def test_a_sentence_holds_where_the_server_says_so(vector: dict[str, Any]) -> None:
    (low, high), (base_low, base_high) = vector["arm"], vector["fallback"]
    item = claim(**{name: vector[name] for name in ("percent", "printed", "about")})
    # As `ledger_lines`: a reference that took no time is compared with nothing.
    holds = base_low == 0 or item.holds(low / base_high - 1.0, high / base_low - 1.0)
    assert holds is vector["holds"]
