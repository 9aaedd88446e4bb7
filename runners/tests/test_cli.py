"""Tests of the command line: results for people and pipelines; no user error ends in a traceback."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from paceline import environment
from paceline.executors.claim import TargetClaim
from paceline.stop import Stop
from paceline.testing import commands
from paceline.testing.fake_server import FakeServer
from paceline_contract.stream import StreamReader
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S

from .conftest import git

QUICK = ["--launches", "2", "--rounds", "3", "--min-time-ns", "100000", "--seed", "5"]


def paceline(
    *arguments: str, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    return commands.run(
        *arguments, cwd=cwd, env={**os.environ, "COLUMNS": "200", **env}
    )


def test_run_writes_streams_and_a_record_that_judge_can_read(
    suite_repository: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = paceline(
        "run",
        str(suite_repository / "bench/suite.toml"),
        *QUICK,
        "--params",
        "n=100",
        "--out",
        str(out),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(out)
    assert "launch 2 of 2: sorts" in done.stderr
    for launch in range(2):
        reader = StreamReader()
        data = (out / f"launch-{launch:03d}.sorts.jsonl").read_bytes()
        events = [*reader.feed(data), *reader.close()]
        assert len(events) > 10
    record = json.loads((out / "run.json").read_text())
    assert record["suite"] == "mine"
    assert record["manifest"]["benchmarks"]["sort"]["reference"] == "merge"
    assert record["revision"] == git(suite_repository, "rev-parse", "HEAD")
    assert len(record["artifact_hash"]) == 64
    assert record["options"]["params"] == {"n": [100]}
    assert record["options"]["seed"] == 5
    assert record["conditions"][0]["phase"] == "before"
    assert record["failure"] is None
    assert (out / "sorts.stderr.log").read_text().count("a word for people") == 2


@pytest.mark.parametrize("options", [[], ["--fail-on", "never"]])
def test_a_suite_is_judged_in_the_formats_of_ab(
    suite_repository: Path, tmp_path: Path, options: list[str]
) -> None:
    """The judge is the one of `ab`, whose tests hold what it writes; here, that it is called, and how it exits."""
    files = {name: tmp_path / f"verdicts.{name}" for name in ("json", "junit")}
    outputs = [
        word
        for name, path in files.items()
        for word in ("--format", name, "--output", str(path))
    ]
    done = paceline(
        *("run", str(suite_repository / "bench/suite.toml")),
        *(*QUICK, "--params", "n=100"),
        *("--out", str(tmp_path / "out"), *outputs, *options),
        PACELINE_PRESSURE_LIMIT_PERCENT="100",
        PACELINE_DRIFT_LIMIT_PERCENT="1000",
    )
    document = json.loads(files["json"].read_text())
    assert (document["schema"], document["suite"]) == ("paceline.verdicts/1", "mine")
    assert "<testsuite" in files["junit"].read_text()
    assert done.stdout.startswith(f"{tmp_path / 'out'}\n")
    expected = {"pass": 0, "fail": 2, "inconclusive": 3}[document["outcome"]]
    assert done.returncode == (0 if "never" in options else expected), done.stderr
    assert "Judge it" not in done.stderr


def test_a_run_says_how_long_it_takes_by_what_past_ones_took(
    suite_repository: Path, tmp_path: Path
) -> None:
    past = tmp_path / "kept" / "mine.json"

    def run(*more: str) -> str:
        options = [*QUICK, "--params", "n=100", "--past", str(past), *more]
        done = paceline(
            "run", str(suite_repository / "bench/suite.toml"), *options, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return next(
            line
            for line in done.stderr.splitlines()
            if line.startswith("Estimated duration:")
        )

    first = run("--rounds", "2", "--min-time-ns", "1000000")
    assert "not known yet" in first
    assert "its samples alone take under a second; building" in first
    assert "as the last run of the same choice took" in run(
        "--rounds", "2", "--min-time-ns", "1000000", "--seed", "9"
    )
    assert "scaled from the last 2 runs of other choices" in run()
    assert len(json.loads(past.read_text())) == 3
    assert "not known yet" in run("--all-launches"), "the others may have stopped early"
    past.write_text("[")
    assert "not known yet" in run(), "a broken file costs the estimate only"


def test_the_revision_of_a_changed_tree_says_dirty(
    suite_repository: Path, tmp_path: Path
) -> None:
    (suite_repository / "bench" / "notes.txt").write_text("x")
    out = tmp_path / "out"
    done = paceline(
        "run",
        str(suite_repository / "bench/suite.toml"),
        *QUICK,
        "--launches",
        "1",
        "--out",
        str(out),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "run.json").read_text())["revision"].endswith("+dirty")


def test_a_preset_says_what_a_run_is_and_what_is_said_besides_wins(
    suite_repository: Path, tmp_path: Path
) -> None:
    suite = suite_repository / "bench/suite.toml"
    with suite.open("a", encoding="utf-8") as file:
        file.write(
            '[presets.small]\ntitle = "Small"\nbenchmarks = ["sort"]\nparams = { n = [100] }\n'
        )
    for number, (item, size) in enumerate((([], 100), (["--params", "n=7"], 7))):
        out = tmp_path / str(number)
        done = paceline(
            "run", str(suite), *QUICK, "--preset", "small", *item, "--out", str(out)
        )
        assert done.returncode == 0, done.stderr
        options = json.loads((out / "run.json").read_text())["options"]
        assert (options["benchmarks"], options["params"]) == (["sort"], {"n": [size]})
    with suite.open("a", encoding="utf-8") as file:
        file.write("launches = 2\nrounds = 3\n")
    for number, (item, times) in enumerate(
        (([], (2, 3)), (["--rounds", "1", "--launches", "1"], (1, 1)))
    ):
        out = tmp_path / f"times-{number}"
        done = paceline(
            "run",
            str(suite),
            "--warmup-rounds",
            "0",
            "--preset",
            "small",
            *item,
            "--out",
            str(out),
        )
        assert done.returncode == 0, done.stderr
        options = json.loads((out / "run.json").read_text())["options"]
        assert (options["launches"], options["rounds"]) == times
    unknown = paceline("run", str(suite), "--preset", "large")
    assert unknown.returncode == 1
    assert "Use one of: small" in unknown.stderr


def test_a_knob_is_passed_and_its_warning_recorded(
    suite_repository: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = [
        *QUICK,
        "--launches",
        "1",
        "--params",
        "n=100",
        "--knob",
        "slow_percent=100",
        "--out",
        str(out),
    ]
    done = paceline("run", str(suite_repository / "bench/suite.toml"), *options)
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "run.json").read_text())
    assert record["warnings"] == [
        {"code": "demonstration", "text": "the builtin arm is slowed on purpose"}
    ]
    assert record["options"]["knobs"] == {"slow_percent": 100}


def test_a_run_for_programs_prints_its_record_and_where_it_lies(
    suite_repository: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    suite = str(suite_repository / "bench/suite.toml")
    done = paceline("run", suite, *QUICK, "--json", "--out", str(out))
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed.pop("directory") == str(out)
    assert printed == json.loads((out / "run.json").read_text())


def test_a_failed_run_says_so_and_records_it(
    suite_repository: Path, tmp_path: Path
) -> None:
    (suite_repository / "bench" / "sorts.py").write_text("print('hello')\n")
    out = tmp_path / "out"
    done = paceline(
        "run", str(suite_repository / "bench/suite.toml"), *QUICK, "--out", str(out)
    )
    assert done.returncode == 1
    assert "stream_invalid" in done.stderr
    assert "Traceback" not in done.stderr
    assert (
        json.loads((out / "run.json").read_text())["failure"]["cause"]
        == "stream_invalid"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "missing.toml"], "missing.toml"),
        (["run", "suite.toml", "--params", "m=1"], "Use one of: n"),
        (
            ["run", "suite.toml", "--", "python3", "work.py"],
            "suite.toml is a suite, and `python3 work.py` a command",
        ),
        (["run", "suite.toml", "--params", "n=5000"], "1 to 1000"),
        (["run", "suite.toml", "--params", "n=many"], "whole number"),
        (["run", "suite.toml", "--knob", "slow_percent=900"], "0 to 400"),
        (["run", "suite.toml", "--benchmark", "nope"], "Use one of: sort"),
        (["run", "suite.toml", "--params", "n"], "NAME=VALUE"),
        (["run", "suite.toml", "--out", "."], "not empty"),
        (["run", "suite.toml", "--format", "junit", "--json"], "Leave one of them out"),
        (["run", "suite.toml", "--output", "a.json"], "has no --format"),
        (["submit", "mine", "--token", "t"], "such as http://127.0.0.1:8321"),
        (
            ["submit", "mine", "--server", "http://127.0.0.1:9"],
            "paceline-server token create NAME",
        ),
        (["validate", "sorts.py"], "not TOML"),
        (["report", "nosuch", "--forge-url", "notaurl"], "forge's API does not begin"),
        (["report", "nosuch", "--repository", "x"], "'x' names no repository"),
        (["agent", "--server", "example.org", "--data", "d"], "http"),
        (["agent", "--server", "http://127.0.0.1:9", "--data", "d"], "--enrol"),
        (
            ["agent", "--server", "http://127.0.0.1:9", "--data", "d", "--enrol", "x"],
            "cannot be reached: 127.0.0.1:9:",
        ),
        (
            ["submit", "mine", "--server", "http://127.0.0.1:9", "--token", "t"],
            "cannot be reached: 127.0.0.1:9:",
        ),
    ],
)
def test_a_mistake_is_answered_with_words_and_not_a_traceback(
    suite_repository: Path, arguments: list[str], words: str
) -> None:
    done = paceline(*arguments, cwd=suite_repository / "bench")
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_usage_errors_exit_1_because_2_is_a_failed_gate() -> None:
    assert paceline("submit").returncode == 1
    assert paceline("nonsense").returncode == 1


def test_validate_shows_what_the_suite_holds(suite_repository: Path) -> None:
    done = paceline("validate", str(suite_repository / "bench/suite.toml"))
    assert done.returncode == 0
    assert "merge (reference), builtin" in done.stdout


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('{"n": n}, "metrics"', '{"n": 10 * n}, "metrics"'),
            "sort: the manifest says n 100, 200, the workload announced 1000, 2000.",
        ),
        (
            ('"benchmark": "sort", "arm": arm', '"benchmark": "sorted", "arm": arm'),
            "sort: the workload sorts does not list it.",
        ),
    ],
)
def test_validate_finds_what_a_workload_would_not_measure(
    suite_repository: Path, change: tuple[str, str], says: str
) -> None:
    workload = suite_repository / "bench" / "sorts.py"
    text = workload.read_text()
    assert change[0] in text
    workload.write_text(text.replace(*change))
    done = paceline("validate", str(suite_repository / "bench/suite.toml"))
    assert done.returncode == 1
    assert says in done.stderr


def test_validate_takes_values_that_a_workload_runs_without_listing_them(
    suite_repository: Path,
) -> None:
    workload = suite_repository / "bench" / "sorts.py"
    text = workload.read_text().replace("sizes = [100, 200]", "sizes = [300]")
    workload.write_text(text)
    done = paceline("validate", str(suite_repository / "bench/suite.toml"))
    assert done.returncode == 0


def test_validate_says_which_workloads_it_could_not_ask(
    suite_repository: Path,
) -> None:
    (suite_repository / "bench" / "sorts.py").unlink()
    done = paceline("validate", str(suite_repository / "bench/suite.toml"))
    assert done.returncode == 0
    assert "Not looked at: sorts: it is not built." in done.stderr


@pytest.fixture
def alone(tmp_path: Path) -> list[str]:
    """Options of a host that drives no devices: a developer's phone is none of the tests' business."""
    (tmp_path / "agent.toml").write_text("[devices]\nenabled = false\n")
    return ["--data", str(tmp_path), "--config", str(tmp_path / "agent.toml")]


def test_doctor_speaks_json(alone: list[str]) -> None:
    done = paceline("doctor", "--json", *alone)
    facts = json.loads(done.stdout)
    assert {finding["code"] for finding in facts["findings"]} >= {
        "governor",
        "turbo",
        "smt",
        "load",
        "disk",
    }
    assert len(facts["environment"]["fingerprint"]) == 64


def test_devices_lists_this_host(alone: list[str]) -> None:
    done = paceline("devices", *alone)
    assert done.returncode == 0
    assert "host-" in done.stdout


def test_every_command_has_help() -> None:
    for command in (
        "agent",
        "run",
        "doctor",
        "devices",
        "validate",
        "submit",
        "import",
        "push",
        "migrate",
    ):
        done = paceline(command, "--help")
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) > 4


def test_the_help_of_run_says_how_many_launches_there_are() -> None:
    words = " ".join(paceline("run", "--help").stdout.split())
    assert "a benchmark whose verdict is certain is not launched again" in words
    assert "as a server does in up to three batches" in words


def test_the_overhead_benchmark_compares_the_agent_with_launches_by_hand() -> None:
    script = Path(__file__).parents[1] / "benchmarks" / "overhead.py"
    command = [sys.executable, str(script), "--groups", "2", "--rounds", "2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "median" in line]
    assert [line.split()[0] for line in lines] == ["work", "work", "launch", "launch"]
    assert all("min" in line and "max" in line for line in lines)


def test_interrupting_a_run_stops_it_in_an_orderly_way(
    suite_repository: Path, tmp_path: Path
) -> None:
    source = suite_repository / "bench" / "sorts.py"
    source.write_text(
        source.read_text().replace('say("check"', 'time.sleep(600)\nsay("check"')
    )
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "paceline",
        "run",
        str(suite_repository / "bench/suite.toml"),
        *QUICK,
    ]
    with ChildProcess[str](
        [*command, "--out", str(out)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert any("launch 1" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(WITHIN_S) == 130
    assert json.loads((out / "run.json").read_text())["failure"]["cause"] == "cancelled"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_while_it_waits_names_no_measurement(
    suite_repository: Path, tmp_path: Path, number: signal.Signals
) -> None:
    suite = str(suite_repository / "bench/suite.toml")
    out = tmp_path / "out"
    serial = environment.serial(tmp_path / "paceline")
    command = [sys.executable, "-m", "paceline", "run", suite, "--out", str(out)]
    with (
        TargetClaim(serial, tmp_path).claim(Stop()),
        ChildProcess[str](
            command,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TMPDIR": str(tmp_path),
                "XDG_STATE_HOME": str(tmp_path),
            },
        ) as process,
    ):
        assert process.stderr is not None
        assert any("waiting for the target" in line for line in process.stderr)
        process.send_signal(number)
        assert process.wait(WITHIN_S) == 130
        assert "nothing was measured" in process.stderr.read()
    assert not out.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are different there")
def test_on_a_terminal_there_is_a_bar(suite_repository: Path, tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "paceline",
        "run",
        str(suite_repository / "bench/suite.toml"),
        *QUICK,
    ]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        stderr=follower,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                data = os.read(leader, 65_536)
            except OSError:
                break
            if not data:
                break
            shown += data
        assert process.wait() == 0
    os.close(leader)
    assert b"\x1b[" in shown
    assert b"launch 1 of 2" in shown


RUN: dict[str, Any] = {
    "id": "run-9",
    "suite": "mine",
    "commit": "a" * 40,
    "state": "done",
    "verdict": "fail",
    "outcome": "fail",
    "reason": "slower",
    "jobs": [
        {
            "target_name": "bench-1",
            "state": "done",
            "outcome": "fail",
            "cause": None,
            "cause_detail": None,
        }
    ],
}
COMPARISON = {
    "benchmark": "sort",
    "params": {"n": 100},
    "arm": "builtin",
    "verdict": "fail",
    "reason": "slower",
    "words": "12.6 % slower than merge",
}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"outcome": "pass"}, 0),
        ({"outcome": "fail"}, 2),
        ({"outcome": "inconclusive"}, 3),
        ({"outcome": None}, 1),
        ({"state": "failed", "outcome": "failed"}, 1),
        ({"state": "failed", "outcome": "expired"}, 1),
        ({"state": "cancelled", "outcome": "cancelled", "verdict": "pass"}, 1),
    ],
)
def test_submit_exits_by_the_servers_verdict(
    server: FakeServer, changes: dict[str, Any], status: int
) -> None:
    server.run, server.comparisons = {**RUN, **changes}, [COMPARISON]
    done = paceline(
        "submit", "mine", PACELINE_SERVER=server.url, PACELINE_TOKEN=server.credential
    )
    assert done.returncode == status, done.stderr
    assert "12.6 % slower than merge" in done.stdout
    assert "estimated duration: bench-1: about 40 s" in done.stderr
    assert f"watch it: {server.url}/runs/{RUN['id']}" in done.stderr


def test_submit_for_programs_prints_the_servers_document_alone(
    server: FakeServer,
) -> None:
    server.run, server.comparisons = {**RUN, "outcome": "fail"}, [COMPARISON]
    done = paceline(
        "submit",
        "mine",
        "--json",
        PACELINE_SERVER=server.url,
        PACELINE_TOKEN=server.credential,
    )
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["schema"] == "paceline.verdicts/1"


@pytest.mark.parametrize(
    ("said", "differs"),
    [
        ([], {}),
        (
            [
                "--params",
                "n=7",
                "--rounds",
                "2",
                "--launches",
                "1",
                "--benchmark",
                "other",
            ],
            {
                "params": {"n": [7], "kind": ["a"]},
                "rounds": 2,
                "launches": 1,
                "benchmarks": ["other"],
            },
        ),
    ],
)
def test_submit_asks_for_a_preset_and_what_is_said_besides_wins(
    server: FakeServer, said: list[str], differs: dict[str, Any]
) -> None:
    asked = {
        "benchmarks": ["sort"],
        "params": {"n": [100], "kind": ["a"]},
        "launches": 3,
        "rounds": 9,
    }
    server.run = {**RUN, "outcome": "pass"}
    server.presets = [{"name": "small", "title": "Small", **asked}]
    options = [
        "submit",
        "mine",
        "--server",
        server.url,
        "--token",
        server.credential,
        "--preset",
    ]
    done = paceline(*options, "small", *said)
    assert done.returncode == 0, done.stderr
    assert server.requested == [{"suite": "mine", "trigger": "ci", **asked, **differs}]
    unknown = paceline(*options, "large")
    assert unknown.returncode == 1
    assert "Use one of: small" in unknown.stderr
    assert len(server.requested) == 1
    server.refuse_run = {"params.kind": "no", "params.n": "no"}
    refused = paceline(*options, "small", "--params", "n=7")
    assert "(set by the preset small: kind)" in refused.stderr


def test_submit_explains_a_refusal(server: FakeServer) -> None:
    done = paceline(
        "submit", "mine", "--server", server.url, "--token", server.credential
    )
    assert done.returncode == 1
    assert "unknown_suite" in done.stderr
    assert "agent.toml" in done.stderr
    wrong = paceline("submit", "mine", "--server", server.url, "--token", "wrong")
    assert "PACELINE_TOKEN" in wrong.stderr


def test_no_command_waits_for_what_only_others_need() -> None:
    """Every command loads `paceline.cli`; the code for devices is large and must be loaded only when needed."""
    others = "{'paceline.adb.direct', 'cryptography'}"
    asked = f"import sys, paceline.cli; print(*{others} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
