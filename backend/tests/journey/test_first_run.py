"""Tests `make run` without data: the embedded shape measures the hashing suite once by itself.

It builds the suite as a fresh clone does, and later journeys reuse the build. Dependencies that were compiled in this
clone before are not compiled again; `make test-bare` begins without them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from paceline_contract.testing.waiting import WITHIN_S, wait_until

from .stack import BIN, CLONE, SHARED_HOST, Process, base_env, keep_builds, running

pytestmark = [pytest.mark.journey, pytest.mark.timeout(1200)]
BUILT_WITHIN_S = 1000.0
"""And measured: two compilers, beside all else that `make test` does."""


@contextmanager
def up(data: Path, logs: Path) -> Iterator[Process]:
    env = {
        **base_env(),
        **SHARED_HOST,
        "CARGO_TARGET_DIR": str(CLONE / "native" / "target"),
    }
    argv = [str(BIN / "paceline-server"), "up", "--data", str(data), "--port", "0"]
    with running("up", argv, env, logs) as process:
        yield process


def test_the_very_first_start_measures_once_with_live_progress_and_the_second_does_not(
    tmp_path: Path,
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    data = tmp_path / "data"
    with up(data, logs) as first:
        wait_until(
            "the verdict of the first run",
            lambda: re.search(r"First run: .*\n", first.output()),
            within_s=BUILT_WITHIN_S,
        )
        output = first.output()
        assert re.search(r"measuring launch \d/5, \d+ %", output), (
            "progress is shown while it measures\n" + output
        )
        # Its gates are of a quiet machine, and this one does all else that `make test` does.
        assert re.search(r"First run: (pass|fail|inconclusive) ", output), output
    assert (data / "agent" / "trees").is_dir(), (
        "it found nothing built and made a checkout"
    )
    keep_builds(data / "agent")
    with up(data, logs) as second:
        link = wait_until(
            "the sign-in link",
            lambda: re.search(r"(http\S+)/sign-in#token=(\S+)\s", second.output()),
        )
        with httpx.Client(base_url=link[1], timeout=WITHIN_S) as browser:
            signed_in = browser.post("/api/v1/session/link", json={"token": link[2]})
            assert signed_in.status_code == 200, signed_in.text
            runs = browser.get("/api/v1/runs").json()["items"]
            assert [(run["suite"], run["state"]) for run in runs] == [
                ("hashing", "done")
            ]
            (job,) = runs[0]["jobs"]
            assert job["samples"] > 0
            report = browser.get(f"/api/v1/jobs/{job['id']}/report").json()
            assert report["checks"], "the digests are checked before their times count"
            assert all(check["ok"] for check in report["checks"])
            assert {row["benchmark"] for row in report["comparisons"]} == {
                "ledger_batch"
            }
            again = browser.post("/api/v1/session/link", json={"token": link[2]})
            assert again.is_client_error, "a sign-in link works once"
    remaining = subprocess.run(
        ["pgrep", "-f", str(data)], capture_output=True, text=True, check=False
    ).stdout
    assert remaining == "", "nothing that was started stays behind"
