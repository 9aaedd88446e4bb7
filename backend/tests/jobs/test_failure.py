"""A cause's detail, taken apart: written by an agent's `outcome.detail` and `source`, read by every page."""

from __future__ import annotations

from paceline_server.jobs.outcomes import ADVICE, JobSummary, parse_failure, roll_up

RECOGNISED = """Build step `make` exited with status 2.
  | gcc -c main.c
  > main.c:1:25: error: 'missing' undeclared
  |     1 | int main(void) { return missing; }
Run it by hand in the same revision; its whole output is in the job's log."""
UNKNOWN = """Workload ledger, launch 2: exited with status 3 before its stream ended.
No known error stands in its output; it ended with:
  | step 4
  | step 5
Run it by hand with the same arguments; its whole output is in the log."""


def test_a_detail_is_its_sentence_its_excerpt_and_its_advice() -> None:
    failure = parse_failure(RECOGNISED, "build_failed")
    assert failure.title == "The build failed"
    assert failure.sentence == "Build step `make` exited with status 2."
    assert [(line.text, line.is_error) for line in failure.excerpt] == [
        ("gcc -c main.c", False),
        ("main.c:1:25: error: 'missing' undeclared", True),
        ("    1 | int main(void) { return missing; }", False),
    ]
    assert failure.is_recognised
    assert failure.advice.startswith("Run it by hand in the same revision")


def test_the_end_of_an_output_without_a_known_error_is_told_apart() -> None:
    failure = parse_failure(UNKNOWN, "workload_crashed")
    assert (
        failure.sentence
        == "Workload ledger, launch 2: exited with status 3 before its stream ended."
    )
    assert [line.text for line in failure.excerpt] == ["step 4", "step 5"]
    assert not failure.is_recognised
    assert failure.advice.startswith("Run it by hand")


def test_a_detail_of_one_line_and_one_with_advice_have_no_excerpt() -> None:
    assert parse_failure("SIGSEGV in launch 2", "workload_crashed").model_dump() == {
        "title": "The workload crashed",
        "sentence": "SIGSEGV in launch 2",
        "excerpt": [],
        "is_recognised": False,
        "advice": ADVICE["workload_crashed"],
    }
    assert parse_failure("No room.\nFree space.", "disk_full").advice == "Free space."


def test_a_job_that_nobody_started_says_so_and_what_to_check() -> None:
    failure = parse_failure("", None)
    assert (failure.title, failure.sentence) == ("No agent started the job", "")
    assert failure.advice.startswith("Check that the target is online")


def test_a_detail_the_server_cut_still_has_its_parts() -> None:
    failure = parse_failure(
        RECOGNISED[: RECOGNISED.index("    1 |") - 2], "build_failed"
    )
    assert [line.is_error for line in failure.excerpt] == [False, True]
    assert failure.advice == ADVICE["build_failed"]


def test_the_reason_of_a_run_is_the_first_error_of_each_job() -> None:
    jobs = [
        JobSummary("failed", None, None, "bench-1", "build_failed", RECOGNISED),
        JobSummary("failed", None, None, "bench-2", "workload_crashed", UNKNOWN),
    ]
    assert roll_up(jobs).reason == (
        "bench-1: the build failed: main.c:1:25: error: 'missing' undeclared; bench-2: the workload crashed: "
        "Workload ledger, launch 2: exited with status 3 before its stream ended."
    )
