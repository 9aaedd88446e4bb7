"""Tests of the logcat importer: lines, rounding, and input that is wrong or hostile."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paceline import manifest
from paceline.formats import logcat
from paceline.formats.declared import LogRecord, quantity_of
from paceline.formats.logcat import LogContents
from paceline.formats.quantity import (
    DURATION,
    SIZE,
    UnreadableError,
    count_at,
    quantity_at,
)
from paceline.formats.raw_lines import MAX_LINE_BYTES, lines_of
from paceline.formats.templates import MismatchError, Template

KOTLIN = "JSTorrent-Hash: Kotlin: 175 hashes, 175.0MB, avg 1575µs, max 4901µs, throughput 635MB/s"
JS = "JSTorrent-JS: [NativeHasher] 175 hashes, 175.0MB, avg 2.82ms, max 7ms, throughput 355.0MB/s"
LEDGER = """\
Xiaomi 13T Pro (API 35) \u2013 bez warm-up
10-31 14:27:03.505 I LightLedgerBenchmark: Benchmark on 23078PND5G (API 35)
10-31 14:27:03.506 I LightLedgerBenchmark: Batch 1000: fallback avg=7.83 ms (0.01 ms/hash)
10-31 14:27:03.506 I LightLedgerBenchmark: Batch 1000: native  avg=9.79 ms (0.01 ms/hash)
10-31 14:27:03.506 I LightLedgerBenchmark: Batch 5000: fallback avg=36.17 ms (0.01 ms/hash)
10-31 14:27:03.506 I LightLedgerBenchmark: Batch 5000: native  avg=31.52 ms (0.01 ms/hash)

Xiaomi 13T Pro (API 35) - warm-up (1 round)
10-31 14:36:11.989 I LightLedgerBenchmark: Benchmark on 23078PND5G (API 35)
10-31 14:36:11.989 I LightLedgerBenchmark: Batch 1000: fallback avg=11.93 ms (0.01 ms/hash)
10-31 14:36:11.989 I LightLedgerBenchmark: Batch 1000: native  avg=13.43 ms (0.01 ms/hash)
"""


SUITE = Path(__file__).resolve().parents[2] / "native" / "hashing" / "suite.toml"
LINES = manifest.load(SUITE).log_lines()


def read(data: str | bytes) -> LogContents:
    chunks = [data.encode() if isinstance(data, str) else data]
    return logcat.read(lines_of(chunks), LINES)


def one(data: str | bytes) -> LogRecord:
    log = read(data)
    assert not log.problems
    (record,) = log.records
    return record


def expected(data: str | bytes) -> str:
    """The one problem's words; no record beside it."""
    log = read(data)
    assert not log.records
    (problem,) = log.problems
    assert problem.line == 1
    return problem.expected


def interval(record: LogRecord, name: str) -> tuple[int, int, int]:
    result = quantity_of(record.fields, name)
    return result.low, result.value, result.high


def test_a_kotlin_counter_line_is_integers_with_what_printing_hid() -> None:
    record = one(KOTLIN)
    assert record.pattern == "hashing.piece_kotlin"
    assert record.fields["count"] == 175
    assert interval(record, "avg") == (
        1_574_500,
        1_575_000,
        1_576_000,
    )  # it may have divided integers
    assert interval(record, "bytes") == (183_448_371, 175 * 2**20, 183_553_229)
    assert interval(record, "throughput") == (665_321_472, 635 * 2**20, 666_894_336)


def test_a_javascript_counter_line_was_rounded_to_ten_microseconds() -> None:
    record = one(JS)
    assert interval(record, "avg") == (2_815_000, 2_820_000, 2_825_000)
    assert interval(record, "max") == (6_500_000, 7_000_000, 8_000_000)


def test_both_micro_signs_and_plain_us_are_the_same_microseconds() -> None:
    for sign in ("\u00b5s", "\u03bcs", "us"):
        assert interval(one(KOTLIN.replace("µs", sign)), "max")[1] == 4_901_000


def test_the_ledger_lines_become_rows_with_computed_percentages_and_no_verdict() -> (
    None
):
    log = read(LEDGER)
    assert not log.problems
    cold, warm = log.sessions
    assert (cold.device, cold.api) == ("23078PND5G", 35)
    assert cold.heading is not None
    assert (cold.heading.name, cold.heading.warmup_rounds) == ("Xiaomi 13T Pro", 0)
    assert warm.heading is not None
    assert warm.heading.warmup_rounds == 1
    assert [(row.batch, row.difference_ns, row.words) for row in cold.rows] == [
        (1000, 1_960_000, "native 25.0 % slower than fallback"),
        (5000, -4_650_000, "native 12.9 % faster than fallback"),
    ]
    assert [row.words for row in warm.rows] == ["native 12.6 % slower than fallback"]
    assert (cold.rows[0].low, cold.rows[0].share, cold.rows[0].high) == (
        0.2488,
        0.2503,
        0.2518,
    )
    assert all(
        row.comparison.startswith("insufficient: no samples")
        for row in [*cold.rows, *warm.rows]
    )


def test_ledger_lines_without_their_header_or_other_arm_are_kept_as_such() -> None:
    (session,) = read(
        "LightLedgerBenchmark: Batch 1000: native avg=9.79 ms (0.01 ms/hash)"
    ).sessions
    assert (session.device, session.rows, session.unpaired) == (None, [], [1])


def test_averages_equal_as_printed_are_called_equal() -> None:
    lines = [
        f"LightLedgerBenchmark: Batch 10: {arm} avg=0.05 ms (0.01 ms/hash)"
        for arm in ("native", "fallback")
    ]
    (session,) = read("\n".join(lines)).sessions
    assert [row.words for row in session.rows] == [
        "native and fallback are equal as printed"
    ]


MESSAGE = "Kotlin: 175 hashes, 175.0MB, avg 1575µs, max 4901µs, throughput 635MB/s"
PREFIXES = {
    "10-31 10:12:56.427 I JSTorrent-Hash: ": ("10-31 10:12:56.427", "I", None),
    "10-31 10:12:56.427  1234  5678 I JSTorrent-Hash: ": (
        "10-31 10:12:56.427",
        "I",
        1234,
    ),
    "10-31 10:12:56.427 u0_a123  1234  5678 D JSTorrent-Hash  : ": (
        "10-31 10:12:56.427",
        "D",
        1234,
    ),
    "2025-10-31 10:12:56.427123 +0100  1234  5678 W JSTorrent-Hash: ": (
        "2025-10-31 10:12:56.427123 +0100",
        "W",
        1234,
    ),
    "1761905576.427  1234  5678 I JSTorrent-Hash: ": ("1761905576.427", "I", 1234),
    " 1234  5678 I JSTorrent-Hash: ": (None, "I", 1234),
    "10-31 10:12:56.427 I/JSTorrent-Hash( 1234): ": ("10-31 10:12:56.427", "I", 1234),
    "I/JSTorrent-Hash( 1234): ": (None, "I", 1234),
    "I/JSTorrent-Hash: ": (None, "I", None),
    "I JSTorrent-Hash: ": (None, "I", None),
    "2025-03-04 10:12:56.427 30249-30321 JSTorrent-Hash          com.example.app                      I  ": (
        "2025-03-04 10:12:56.427",
        "I",
        30249,
    ),
    "2025-03-04 10:12:56.427  3024-3032  JSTorrent-Hash          pid-3024                             W  ": (
        "2025-03-04 10:12:56.427",
        "W",
        3024,
    ),
    "2022-03-04 10:12:56.427 30249-30321/com.example.app I/JSTorrent-Hash: ": (
        "2022-03-04 10:12:56.427",
        "I",
        30249,
    ),
    "03-04 10:12:56.427 30249-30321/? D/JSTorrent-Hash: ": (
        "03-04 10:12:56.427",
        "D",
        30249,
    ),
    "[ 03-04 10:12:56.427  1234: 5678 I/JSTorrent-Hash ]\n": (
        "03-04 10:12:56.427",
        "I",
        1234,
    ),
    "[ 2025-03-04 10:12:56.427123 +0100 10234:  1234: 5678 E/JSTorrent-Hash   ]\n": (
        "2025-03-04 10:12:56.427123 +0100",
        "E",
        1234,
    ),
    "JSTorrent-Hash: ": (None, None, None),
    "": (None, None, None),
    "[12:00:01] stderr | JSTorrent-Hash: ": (None, None, None),
    "10:12:56.427  I  ": ("10:12:56.427", "I", None),
    "I( 1234: 5678) ": (None, "I", 1234),
    "\x1b[38;5;40m10-31 10:12:56.427 I JSTorrent-Hash: ": (
        "10-31 10:12:56.427",
        "I",
        None,
    ),
}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_prefixes_of_logcat_and_none_at_all_are_read(prefix: str) -> None:
    origin = one(prefix + MESSAGE).origin
    assert (origin.logged_at, origin.level, origin.pid) == PREFIXES[prefix]


def test_a_tag_after_the_message_is_the_format_process() -> None:
    origin = one(f"I( 1234) {MESSAGE}  (JSTorrent-Hash)").origin
    assert (origin.level, origin.tag, origin.pid) == ("I", "JSTorrent-Hash", 1234)


def test_a_header_of_the_format_long_holds_up_to_an_empty_line() -> None:
    header = "[ 03-04 10:12:56.427  1234: 5678 I/LightLedgerBenchmark ]"
    batch = "Batch 256: {} avg=1.20ms (4687ns/hash)"
    log = read(
        f"{header}\n{batch.format('native')}\n{batch.format('fallback')}\n\n"
        f"{batch.format('native')} after the empty line, of nobody\n"
    )
    assert [record.origin.pid for record in log.records] == [1234, 1234]


@pytest.mark.parametrize(
    "prefix",
    [
        "2031/03/04 10:12 com.example.app <info> ",
        "[INFO] (JSTorrent-Hash) ",
        "app-1 | 10:12:56 ",
        "\u2063\u2063JSTorrent-Hash\uff1a ",
        "<14>1 2025-03-04T10:12:56Z phone - - ",
    ],
)
def test_a_declared_text_after_an_unknown_prefix_is_counted_and_shown(
    prefix: str,
) -> None:
    log = read(f"{KOTLIN}\n{prefix}{MESSAGE}\n{prefix}Kotlin: of something else\n")
    assert len(log.records) == 1
    (problem,) = log.problems
    assert log.problem_count == 1
    assert problem.line == 2
    assert "expected a prefix of logcat or Android Studio with the tag" in (
        problem.expected
    )
    assert f"at character {len(prefix) + 1}" in problem.expected


def test_lines_of_logcat_and_of_other_apps_are_ignored() -> None:
    text = (
        "--------- beginning of main\n--------- switch to system\n\n"
        "10-31 10:12:56.427  1  2 I art::Heap: \n10-31 10:12:56.427  1  2 I Other: Kotlin: hello\n"
        "10-31 10:12:56.427  1  2 I Other: Batch 7 done\nBenchmark on a good day\nI think: so\n"
    )
    log = read(text)
    assert (log.lines, log.records, log.problem_count) == (8, [], 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (KOTLIN.replace("1575µs", "1575"), "expected a duration such as 2.82ms"),
        (KOTLIN.replace("635MB/s", "635MB"), "expected a rate such as 635MB/s"),
        (KOTLIN.replace("175.0MB", "175,000MB"), "the comma may group thousands"),
        (KOTLIN.replace("175.0MB", "1,175.0MB"), "groups its digits"),
        (KOTLIN.replace("175 hashes", "175.5 hashes"), "a whole number"),
        (
            KOTLIN.replace("max", "maximum"),
            "expected ' ', found 'imum 4901µs, throughput ' at character 45 of",
        ),
        (KOTLIN[:60], "found the end of the line"),
        (KOTLIN + " and more", "expected the end of the line"),
        (KOTLIN.replace("4901µs", f"{10**15}s"), "at most 9223372036854775807"),
        (KOTLIN.replace("635", "٦٣٥"), "a rate"),
        (KOTLIN.replace("635", "6\x0035"), "text without U+0000"),
        ("I LightLedgerBenchmark: Benchmark on phone", "before ' (API '"),
        (
            "I LightLedgerBenchmark: Benchmark on a\x1b]0;b\x07 (API 35)",
            "printable characters",
        ),
        (
            f"I LightLedgerBenchmark: Benchmark on {'x' * 300} (API 35)",
            "at most 200 characters",
        ),
    ],
)
def test_a_line_that_only_looks_right_gets_a_problem_with_its_position(
    line: str, words: str
) -> None:
    assert words in expected(line)


def test_a_decimal_comma_is_a_decimal_point_where_it_can_be_nothing_else() -> None:
    assert interval(one(JS.replace("2.82ms", "2,82ms")), "avg")[1] == 2_820_000


def test_a_micro_sign_in_latin_1_is_named_by_its_byte() -> None:
    assert "UTF-8; byte 54" in expected(KOTLIN.encode("latin-1"))


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    for end in ("\r\n", "\r\r\n"):
        log = read(b"\xef\xbb\xbf" + f"{KOTLIN}{end}{JS}{end}".encode())
        assert ([record.line for record in log.records], log.problems) == ([1, 2], [])
    longest = b"x" * MAX_LINE_BYTES
    assert [(item.text, item.fault) for item in lines_of([longest + b"\r\r\n"])] == [
        (longest.decode(), None)
    ]


def test_a_line_too_long_for_a_log_is_a_problem_with_its_length_and_the_next_is_read() -> (
    None
):
    log = read(KOTLIN.encode() + b"x" * 1_000_000 + b"\n" + JS.encode())
    assert [record.line for record in log.records] == [2]
    assert "1,000," in log.problems[0].expected


@given(st.lists(st.integers(1, 40), max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_chunk_boundaries_do_not_change_what_is_read(cuts: list[int], end: str) -> None:
    data = LEDGER.replace("\n", end).encode() + KOTLIN.encode()
    chunks, at = [], 0
    for size in cuts:
        chunks.append(data[at : at + size])
        at += size
    assert logcat.read(lines_of([*chunks, data[at:]]), LINES) == read(data)


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**9),
    st.integers(0, 10**10),
    st.integers(1, 2**24),
    st.sampled_from(["\u00b5s", "\u03bcs"]),
)
def test_what_a_piece_hasher_prints_comes_back_within_its_interval(
    count: int, each_ns: int, longest_ns: int, piece: int, micro: str
) -> None:
    """Printed as the counters print, in whole microseconds (cut off) and in rounded milliseconds."""
    total_ns = count * each_ns + count // 3
    size, per_s = count * piece, Fraction(count * piece * 10**9, total_ns)
    megabytes, rate = f"{size / 2**20:.1f}MB", f"{float(per_s / 2**20)}"
    kotlin = (
        f"JSTorrent-Hash: Kotlin: {count} hashes, {megabytes}, avg {total_ns // count // 1000}{micro}, "
        f"max {longest_ns // 1000}{micro}, throughput {float(rate):.0f}MB/s"
    )
    javascript = (
        f"JSTorrent-JS: [NativeHasher] {count} hashes, {megabytes}, avg {total_ns / count / 1e6:.2f}ms, "
        f"max {longest_ns // 10**6}ms, throughput {float(rate):.1f}MB/s"
    )
    log = read(f"{kotlin}\n{javascript}\n")
    assert not log.problems
    slack = 1 + per_s // 10**12  # the float that was printed
    for record in log.records:
        assert record.fields["count"] == count
        for name, true in (
            ("avg", Fraction(total_ns, count)),
            ("max", longest_ns),
            ("bytes", size),
            ("throughput", per_s),
        ):
            low, value, high = interval(record, name)
            assert low <= value <= high
            assert low - slack <= true <= high + slack


@given(st.binary(max_size=400))
@settings(max_examples=300)
def test_any_bytes_after_a_marker_give_a_record_or_a_problem(
    data: bytes,
) -> None:
    log = read(b"JSTorrent-Hash: Kotlin: " + data.replace(b"\n", b""))
    assert len(log.records) + log.problem_count == 1


@given(st.text(alphabet="0123456789.,mMKiBnsu/ \u00b5\u0663", max_size=40))
def test_every_number_is_a_quantity_or_refused(text: str) -> None:
    for units in (DURATION, SIZE):
        try:
            result, end = quantity_at(text, 0, units)
        except UnreadableError:
            continue
        assert result.low <= result.value <= result.high
        assert result.printed == text[:end]


def test_a_number_is_read_whole_or_not_at_all() -> None:
    assert count_at("12,", 0) == (12, 2)
    for text in ("1,011.73 ms", "1.2.3 ms", "1,011 ms"):
        with pytest.raises(UnreadableError):
            quantity_at(text, 0, DURATION)


class Counting:
    """Chunks of hostile lines, and how much of them was taken."""

    def __init__(self, line: bytes, lines: int) -> None:
        self.chunk, self.left = line, lines

    def __iter__(self) -> Counting:
        return self

    def __next__(self) -> bytes:
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.chunk


HOSTILE = {
    "blanks before (API": b"LightLedgerBenchmark: Benchmark on " + b" " * 16_000,
    "a tag that never ends": b"I " + b" x" * 8_000,
    "brackets of brief": b"I/" + b"(   " * 4_000,
    "a prefix of digits": b"1 " * 8_000,
    "markers again and again": b"JSTorrent-Hash: Kotlin: " * 600,
    "digits without end": b"JSTorrent-Hash: Kotlin: " + b"9" * 16_000,
    "commas": b"JSTorrent-Hash: Kotlin: 1" + b"," * 16_000,
    "colours": b"\x1b[" * 8_000,
    "a package of Studio": b"1-2 x" + b" x" * 8_000,
    "a tag of process": b"I( 1) " + b"  (x" * 4_000,
    "a header of long": b"[ 1: 2 I/" + b"x " * 8_000,
    "(API": b"x" + b" (API 1" * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_end(name: str) -> None:
    """Each line has the greatest length and is read 200 times; with backtracking, a single one would take too
    long.
    """
    assert len(HOSTILE[name]) <= MAX_LINE_BYTES
    log = logcat.read(lines_of(Counting(HOSTILE[name] + b"\n", 200)), LINES)
    assert log.lines == 200
    assert not log.records


def test_a_file_without_line_ends_is_read_in_bounded_memory() -> None:
    longest = max(len(line.text) for line in lines_of(Counting(b"x" * 65_536, 1_000)))
    assert longest == MAX_LINE_BYTES


def test_problems_are_counted_beyond_those_listed() -> None:
    log = read("JSTorrent-Hash: Kotlin: x\n" * 500)
    assert (len(log.problems), log.problem_count) == (logcat.MAX_PROBLEMS, 500)


def test_more_records_than_an_import_takes_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logcat, "MAX_RECORDS", 2)
    with pytest.raises(logcat.TooManyError):
        read(f"{KOTLIN}\n" * 3)


def test_a_declared_shape_with_an_unknown_kind_is_refused_when_declared() -> None:
    with pytest.raises(ValueError, match="no kind 'regex'"):
        Template("{x:regex}")


def test_blanks_in_a_shape_are_one_or_more_and_nothing_else() -> None:
    shape = Template("a {n:count} b")
    assert shape.read("a \t 7  b ") == {"n": 7}
    with pytest.raises(MismatchError, match="expected ' ', found '7 b' at character 2"):
        shape.read("a7 b")
