"""What a new user reads of the very first run: how far its build is, and how it ended."""

from __future__ import annotations

from typing import Any

from paceline_server.jobs.schemas import JobOut, RunOut
from paceline_server.kernel import clock
from paceline_server.runtime.first_run import describe_end, describe_job, live_line

REPEAT = 'make bench SUITE=hashing ARGS="--preset first_look"'
PAGE = "http://127.0.0.1:8321/runs/run_1"
LOG = "\n".join(
    [
        "",
        "error: cannot find symbol",
        "  symbol: class Ledger",
        *(f"line {n}" for n in range(40)),
    ]
)


def run(outcome: str, **job: Any) -> RunOut:
    """A run of one job that ended so."""
    at = clock.now()
    shared = {
        "outcome": outcome,
        "verdict": None,
        "reason": None,
        "cause": None,
        "cause_detail": None,
        "created_at": at,
        "finished_at": at,
        "launches": 5,
    } | job
    only = JobOut.model_validate(
        shared
        | {
            "id": "job_1",
            "run_id": "run_1",
            "target_id": "tgt_1",
            "target_name": "lab-1",
            "detail": None,
            "state": "done" if shared["verdict"] else outcome,
            "attempt": 1,
            "batch": 0,
            "partial": False,
            "progress": None,
            "artifact_hash": None,
            "base_artifact_hash": None,
            "samples": 0,
            "started_at": at,
        }
    )
    return RunOut.model_validate(
        shared
        | {
            "id": "run_1",
            "suite": "hashing",
            "repository": "r",
            "commit": "a" * 40,
            "base_commit": None,
            "base_branch": None,
            "pull_request": None,
            "judges_head": False,
            "stop_when_sure": False,
            "concurrency_key": None,
            "superseded_by": None,
            "branch": "main",
            "trigger": "manual",
            "state": "done" if shared["verdict"] else "failed",
            "demonstration": False,
            "benchmarks": ["ledger_batch"],
            "params": {},
            "knobs": {},
            "rounds": 20,
            "min_time_ns": 1_000_000,
            "created_by": "up",
            "jobs": [only],
        }
    )


def test_a_failed_first_run_ends_in_a_sentence_its_first_error_and_the_command_to_repeat_it() -> (
    None
):
    ending = (
        describe_end(
            run("failed", cause="build_failed", cause_detail=LOG), REPEAT, PAGE
        )
        .strip()
        .splitlines()
    )
    assert ending[:2] == [
        "First run: failed on lab-1: the build failed.",
        "    error: cannot find symbol",
    ]
    assert ending[-2:] == [f"  To repeat it:  {REPEAT}", f"  All about it:  {PAGE}"]
    assert len(ending) <= 12, "a screen of a stack trace hides the sentence"


def test_a_cancelled_first_run_is_not_called_a_failure() -> None:
    ending = (
        describe_end(run("cancelled", cause="cancelled"), REPEAT, PAGE)
        .strip()
        .splitlines()
    )
    assert ending[0] == "First run: cancelled on lab-1."


def test_a_build_is_not_silent_it_names_its_step_and_on_a_terminal_what_it_printed_last() -> (
    None
):
    step = "building ledger, step 2 of 3: mvn package"
    job = run("failed").jobs[0]
    job = job.model_copy(update={"state": "preparing", "detail": step})
    assert describe_job(job) == f"lab-1: preparing ({step})"
    printed = "\x1b[32m   Compiling\x1b[0m serde v1.0\r\x07"
    line = live_line(job, 42.4, printed, columns=200)
    assert line == f"  lab-1: preparing · 42 s · {step} · Compiling serde v1.0"
    narrow = live_line(job, 42.4, printed, columns=40)
    assert (len(narrow), narrow[-1]) == (39, "…"), "a longer one would not be rewritten"


def test_a_first_run_that_could_not_decide_on_a_shared_host_says_what_to_do() -> None:
    judged = run("inconclusive", verdict="inconclusive", reason="lab-1: void")
    said = describe_end(judged, REPEAT, PAGE, "Raise the limit.").splitlines()
    assert said[1:3] == [
        "First run: inconclusive (lab-1: void).",
        "  Raise the limit.",
    ]


def test_a_judged_first_run_ends_in_its_verdict() -> None:
    judged = run("inconclusive", verdict="inconclusive", reason="lab-1: too few blocks")
    assert describe_end(judged, REPEAT, PAGE).strip() == (
        f"First run: inconclusive (lab-1: too few blocks).\n  All about it:  {PAGE}"
    )
