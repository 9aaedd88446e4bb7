"""Tests of `paceline import` for logs: its output, the stored document, and refusals."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from paceline import importing
from paceline.adb.logcat import DEVICE_TIME, LogReader
from paceline.adb.port import AbsentError, CommandResult, Connection
from paceline.cli import app
from paceline.errors import UserError
from paceline.formats.declared import declared_line
from paceline.importing import LogDocument
from paceline.testing import commands
from paceline.testing.fake_device import FakeDevice
from paceline_contract.testing.waiting import give_enough_time
from typer.testing import CliRunner, Result

from .test_logcat import JS, KOTLIN, LEDGER, LINES
from .test_logcat import SUITE as HASHING

TEXT = f"--------- beginning of main\n{KOTLIN}\n{JS}\n\n{LEDGER}"


def import_(
    *arguments: str | Path, say: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return commands.run_bytes(
        "import", "--suite", str(HASHING), *map(str, arguments), given=say
    )


SEED = (
    Path(__file__).resolve().parents[3]
    / "shared"
    / "seeds"
    / "000_6e776f6c8bf659c2.txt"
)


@pytest.mark.skipif(
    not SEED.is_file(), reason=f"the seed document {SEED.name} is not on this disk"
)
def test_the_seeds_18_lines_become_9_rows() -> None:
    done = import_(SEED, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)["log"]
    averages = [record for record in output["records"] if "batch" in record["fields"]]
    assert (len(averages), output["problem_count"]) == (18, 0)
    rows = [row for session in output["sessions"] for row in session["rows"]]
    assert [row["difference_ns"] for row in rows] == [
        -22_320_000,
        -323_840_000,
        -134_060_000,
        1_960_000,
        -4_650_000,
        -22_290_000,
        1_500_000,
        -2_720_000,
        -9_740_000,
    ]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "phone.log"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_dry_run_prints_exactly_what_would_be_stored_and_stores_nothing(
    log: Path, tmp_path: Path
) -> None:
    dry = import_(log, "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    assert list(tmp_path.iterdir()) == [log]
    stored = import_(log, "--out", tmp_path / "out")
    assert stored.returncode == 0, stored.stderr
    assert (tmp_path / "out" / "import.json").read_bytes() == dry.stdout


def test_the_document_names_its_source_and_says_that_it_holds_no_samples(
    log: Path, tmp_path: Path
) -> None:
    assert import_(log, "--out", tmp_path / "out").returncode == 0
    document = json.loads(
        (tmp_path / "out" / "import.json").read_text(encoding="utf-8")
    )
    assert document["sha256"] == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (document["file"], document["bytes"]) == ("phone.log", len(TEXT.encode()))
    assert document["samples"] == 0
    assert "averages, not samples" in document["why_no_samples"]
    records = document["log"]["records"]
    assert [record["line"] for record in records][:2] == [2, 3]
    assert records[0]["fields"]["avg"] == {
        "printed": "1575µs",
        "value": 1_575_000,
        "low": 1_574_500,
        "high": 1_576_000,
        "unit": "ns",
    }
    assert [session["api"] for session in document["log"]["sessions"]] == [35, 35]


def test_an_import_writes_no_stream_that_a_judge_would_take_for_a_measurement(
    log: Path, tmp_path: Path
) -> None:
    assert import_(log, "--out", tmp_path / "out").returncode == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["import.json"]


def test_people_get_every_field_and_the_rows(log: Path) -> None:
    shown = import_(log, "--dry-run").stdout.decode()
    assert "line 2, hashing.piece_kotlin: count 175, bytes 175.0MB, avg 1575µs" in shown
    assert "fallback avg" not in shown
    assert "Xiaomi 13T Pro" in shown
    assert "insufficient: no samples" in shown


def test_what_looks_like_markup_is_shown_as_it_is() -> None:
    lines = [
        "LightLedgerBenchmark: Benchmark on [/red][bold]x (API 35)",
        "LightLedgerBenchmark: Batch 10: native avg=0.05 ms (0.01 ms/hash)",
    ]
    done = import_("-", "--dry-run", say="\n".join(lines).encode())
    assert done.returncode == 0, done.stderr
    assert "[/red][bold]x" in done.stdout.decode()


def test_standard_input_is_read_where_the_file_is_a_dash() -> None:
    done = import_("-", "--dry-run", "--json", say=TEXT.encode())
    assert json.loads(done.stdout)["file"] == "standard input"


def test_lines_that_cannot_be_read_are_named_beside_those_that_can() -> None:
    done = import_("-", "--dry-run", say=f"{KOTLIN[:50]}\n{JS}\n".encode())
    assert done.returncode == 0
    assert done.stderr.decode().startswith("line 1: expected")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "none of its 0 lines"),
        (b"hello\n", "none of its 1 lines"),
        (b"hello\n", "Kotlin: {count:count} hashes"),
        (KOTLIN[:50].encode(), "1 lines resemble known ones"),
        (TEXT.encode("utf-16"), "iconv"),
    ],
)
def test_a_log_with_nothing_to_import_exits_1_with_advice(
    data: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "phone.log"
    path.write_bytes(data)
    done = import_(path, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def inside(*arguments: str | Path, say: str = "") -> Result:
    """Runs the command in this process."""
    return CliRunner().invoke(
        app, ["import", *map(str, arguments)], input=say, env={"PACELINE_TOKEN": None}
    )


def test_mistakes_are_explained(log: Path, tmp_path: Path) -> None:
    suite = ("--suite", HASHING)
    for arguments, words in (
        ([log], "--dry-run"),
        ([log, "--dry-run", "--out", tmp_path / "out"], "--dry-run"),
        ([log, "--dry-run"], "--suite suite.toml"),
        ([log, *suite, "--out", tmp_path], "not empty"),
        ([log, "--format", "jmx", "--dry-run"], "no format 'jmx'"),
        ([tmp_path / "missing.log", *suite, "--dry-run"], "cannot be read"),
        ([tmp_path, *suite, "--dry-run"], "cannot be read"),
    ):
        refused = inside(*arguments).exception
        assert isinstance(refused, UserError)
        assert words in str(refused)


def test_a_policy_that_a_person_states_is_stored_as_the_one_in_force() -> None:
    suite = ("--suite", HASHING)
    done = inside(
        *suite, "-", "--dry-run", "--json", "--in-force", "2000/1", say=LEDGER
    )
    policy = json.loads(done.stdout)["log"]["policy"]
    assert (policy["minimum"], policy["warmup_rounds"]) == (2000, 1)
    refused = inside(*suite, "-", "--dry-run", "--in-force", "many", say=LEDGER)
    assert isinstance(refused.exception, UserError)
    assert "is not a batch policy" in refused.exception.text


def test_exactly_one_source_and_a_token_for_a_server_are_required(log: Path) -> None:
    for arguments, words in (
        (["--dry-run"], "Give one source"),
        ([log, "--device", "127.0.0.1:5555", "--dry-run"], "Give one source"),
        ([log, "--suite", HASHING, "--server", "http://127.0.0.1:9"], "needs a token"),
        (
            [log, "--dry-run", "--server", "http://127.0.0.1:9"],
            "that it is not stored",
        ),
    ):
        refused = inside(*arguments).exception
        assert isinstance(refused, UserError)
        assert words in refused.text


SUITE = """\
schema = 1
[suite]
name = "mine"
title = "Mine"
[[workloads]]
name = "w"
host = { build = [], artifacts = ["w.py"], run = ["python3", "{artifacts}/w.py"] }
[benchmarks.work]
title = "Work"
workload = "w"
arms = ["plain", "quick"]
reference = "plain"
metrics.time = { unit = "ns", direction = "lower" }
[[logcat]]
name = "latency"
tag = "MyApp"
line = "Took {took:duration} for {count:count} of {what:name}"
benchmark = "work"
"""


def test_the_lines_that_a_suite_declares_are_read(tmp_path: Path) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text(SUITE, encoding="utf-8")
    text = (
        "10-31 14:27:03.505  900  901 I MyApp   : Took 12.5 ms for 7 of things\n"
        "10-31 14:27:03.506  900  901 I MyApp   : Took long for 7 of things\n"
        "10-31 14:27:03.507  900  901 I Another : Took 12.5 ms for 7 of things\n"
    )
    log = json.loads(
        inside("-", "--suite", suite, "--dry-run", "--json", say=text).stdout
    )["log"]
    (record,) = log["records"]
    assert (record["pattern"], record["fields"]["took"]["value"]) == (
        "mine.latency",
        12_500_000,
    )
    assert (record["fields"]["count"], record["fields"]["what"]) == (7, "things")
    assert [problem["line"] for problem in log["problems"]] == [2]
    shown = inside("-", "--suite", suite, "--dry-run", say=text).stdout
    assert "line 1, mine.latency: took 12.5 ms, count 7, what things" in shown


def test_a_line_that_a_suite_declares_is_known_by_its_tag_and_its_first_words() -> None:
    line = declared_line("s.n", "MyApp", "Took {took:duration}")
    assert line.claims("MyApp", "Took a nap")
    assert not line.claims("MyApp", "It took")
    assert not line.claims("Other", "Took 1 ms")


def logged_lines() -> list[str]:
    """The lines of the seed document, as logcat prints them."""
    lines = [line for line in LEDGER.splitlines() if " I " in line]
    return [line.replace(" I Light", "  900  901 I Light") + "\n" for line in lines]


def test_the_log_of_a_device_is_imported_as_it_comes() -> None:
    device = FakeDevice("PHONE1")
    device.answers[DEVICE_TIME] = "10-31 14:00:00.000\n"
    text = "".join(logged_lines()[:5])
    device.answers[tuple(LogReader("10-31 14:00:00.000").argv)] = text

    def follow(seconds: float) -> LogDocument | None:
        with suppress(UserError):  # no line came in that time
            return importing.follow("logcat", device.connection, seconds, LINES)
        return None

    document = give_enough_time(follow, first_s=0.3)
    assert document.file.startswith("logcat of PHONE1:0")
    assert document.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert [row.words for session in document.log.sessions for row in session.rows] == [
        "native 25.0 % slower than fallback",
        "native 12.9 % faster than fallback",
    ]


def test_another_device_at_the_address_is_not_read_as_this_one_and_the_gap_is_said() -> (
    None
):
    device, other = FakeDevice("PHONE1"), FakeDevice("PHONE2")
    line = next(line for line in LEDGER.splitlines() if " I " in line)
    for item in (device, other):
        item.answers[DEVICE_TIME] = "10-31 14:00:00.000\n"
    device.answers[tuple(LogReader("10-31 14:00:00.000").argv)] = "".join(
        logged_lines()
    )
    other.answers[tuple(LogReader("10-31 14:00:00.000").argv)] = line

    def follow(seconds: float) -> LogDocument | None:
        opened: list[FakeDevice] = []

        def answers() -> Connection:
            opened.append(device if len(opened) < 2 else other)
            return opened[-1].connection()

        document = importing.follow("logcat", answers, seconds, LINES)
        return document if other in opened else None

    document = give_enough_time(follow, first_s=1.0)
    assert not [call for call in other.calls if "logcat" in call]
    assert "lost and resumed" in document.file


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Restores SIGINT as in a terminal: a process started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_what_was_read() -> None:
    device, lines = FakeDevice("PHONE1"), logged_lines()
    device.answers[DEVICE_TIME] = "10-31 14:00:00.000\n"
    device.answers[tuple(LogReader("10-31 14:00:00.000").argv)] = "".join(lines)

    def interrupt(_: Sequence[str]) -> CommandResult:
        """Who asks for what follows the last line has read it."""
        signal.raise_signal(signal.SIGINT)
        return CommandResult(0, b"")

    since = lines[-1][: len("10-31 14:00:00.000")]
    device.answers[tuple(LogReader(since).argv)] = interrupt
    document = importing.follow("logcat", device.connection, None, LINES)
    assert document.log.records
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_missing_device_or_a_log_without_our_lines_is_reported() -> None:
    device = FakeDevice("PHONE1")
    with pytest.raises(UserError, match="none of its 0 lines"):
        importing.follow("logcat", device.connection, 0.1, LINES)
    device.faults.absent = True
    with pytest.raises(AbsentError):
        importing.follow("logcat", device.connection, 0.1, LINES)
