"""Tests of collecting declared lines of a device's log with the launch during which they were logged."""

from __future__ import annotations

import pytest
from paceline.adb.logcat import DEVICE_TIME, LogFollower, LogLine, LogReader
from paceline.formats import logcat
from paceline.formats.declared import declared_line
from paceline.formats.raw_lines import lines_of
from paceline.log_reports import (
    MAX_LINES,
    LogListener,
    LogReporter,
)
from paceline.testing.fake_device import FakeDevice
from paceline_contract.items import MAX_REPORTED, ReportedItem, SideName
from paceline_contract.testing.waiting import WITHIN_S

LINE = declared_line(
    "mine.batch", "Mine", "Batch {batch:count}: {arm:name} avg={avg:duration}"
)
SAID = declared_line("mine.said", "Mine", "Said {what:text}.")


def report_of(text: str) -> LogLine:
    (line,) = LogReader().lines(f"{text}\n".encode())
    return line


def logged(
    at: str, message: str = "Batch 1: native avg=2.5ms", tag: str = "Mine"
) -> str:
    return f"11-21 {at}  1234  5678 I {tag}: {message}"


class ReportedLines:
    def __init__(self) -> None:
        self.lines: list[ReportedItem] = []
        self.reporting = LogReporter(LogListener([LINE, SAID], self.lines.append))

    def launch(
        self, number: int, begin: str, end: str | None, side: SideName | None = None
    ) -> None:
        self.reporting.note_launch_begin(number, side, begin)
        if end is not None:
            self.reporting.note_launch_end(end)

    def launches(self, *at: str) -> list[int | None]:
        for each in at:
            self.reporting.take(report_of(logged(each)))
        return [line.launch for line in self.lines]


@pytest.mark.parametrize(
    "text",
    [
        logged("10:00:00.000"),
        logged("10:00:00.000", "Batch 1:  native\tavg=2.5ms"),
        logged("10:00:00.000", "\x1b[1mBatch 1: native avg=2.5ms\x1b[0m"),
        logged("10:00:00.000", "Batch 1: native avg=1.234.567ms"),
        logged("10:00:00.000", "Batch of another shape"),
        logged("10:00:00.000", "Said this.", tag="Other"),
        logged("10:00:00.000", "nothing of it"),
    ],
)
def test_a_line_is_read_as_an_import_reads_it(text: str) -> None:
    imported = logcat.read(lines_of([text.encode()]), [LINE, SAID])
    heard = ReportedLines()
    heard.reporting.take(report_of(text))
    read = [(line.pattern, line.fields) for line in heard.lines if line.note is None]
    assert read == [(record.pattern, record.fields) for record in imported.records]
    assert [line.note for line in heard.lines if line.note is not None] == [
        problem.expected for problem in imported.problems
    ]


def test_a_late_line_belongs_to_the_launch_that_logged_it() -> None:
    heard = ReportedLines()
    heard.launch(3, "11-21 10:00:01.500123456", "11-21 10:00:02.500123456", "base")
    heard.launch(4, "11-21 10:00:03.000123456", None, "head")
    result = heard.launches(
        "10:00:01.499", "10:00:01.500", "10:00:02.500", "10:00:02.501", "10:00:09.000"
    )
    assert result == [None, 3, 3, None, 4]
    assert [line.side for line in heard.lines] == [None, "base", "base", None, "head"]


def test_with_times_in_seconds_an_ambiguous_line_belongs_to_no_launch() -> None:
    heard = ReportedLines()
    heard.launch(0, "11-21 10:00:01.%N", "11-21 10:00:02.%N")
    heard.launch(1, "11-21 10:00:02.%N", "11-21 10:00:04.%N")
    assert heard.launches("10:00:01.700", "10:00:02.200", "10:00:04.900") == [
        0,
        None,
        1,
    ]


def test_a_device_without_times_leaves_launches_unknown() -> None:
    heard = ReportedLines()
    heard.launch(0, "date: bad format", "")
    assert heard.launches("10:00:01.700") == [None]


def test_lines_beyond_the_limit_are_dropped_with_one_note() -> None:
    heard = ReportedLines()
    for number in range(MAX_LINES + 5):
        heard.reporting.take(
            report_of(logged("10:00:00.000", f"Batch {number}: native avg=2.5ms"))
        )
    assert len(heard.lines) == MAX_LINES + 1
    assert (
        heard.lines[-1].note
        == "More than 2,000 lines were reported; further lines are not kept."
    )
    assert heard.lines[-1].pattern is None


def test_a_long_line_is_cut_and_says_so() -> None:
    heard = ReportedLines()
    heard.reporting.take(report_of(logged("10:00:00.000", "Said this." + " " * 2000)))
    (line,) = heard.lines
    assert line.fields == {"what": "this"}
    assert len(line.text) == MAX_REPORTED
    assert line.note is not None
    assert line.note.startswith("Only 1,000 of the line's 2,")


def test_the_rest_of_a_log_has_no_line_twice() -> None:
    device, messages = FakeDevice(), list[str]()
    device.answers[DEVICE_TIME] = "11-21 10:00:00.000\n"
    begun, later = LogReader("11-21 10:00:00.000"), LogReader("11-21 10:00:01.000")
    item, two = logged("10:00:01.000", "one"), logged("10:00:01.000", "two")
    device.answers[tuple(begun.argv)] = f"{item}\n"
    again = later.argv_of_rest
    assert again is not None
    device.answers[tuple(again)] = f"{item}\n{two}\n"

    with LogFollower(
        device.connection, lambda line: messages.append(line.message), pause_s=60.0
    ) as follower:
        assert follower.wait(WITHIN_S)
        assert follower.read_rest(device.connection())
        assert follower.read_rest(device.connection())
    assert messages == ["one", "two"]
