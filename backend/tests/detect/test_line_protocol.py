"""`detect --stdin` scores a list of values per line."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.detect import line_protocol
from paceline_server.kernel.errors import ProblemError

STEP = "[" + ", ".join(["1.0"] * 20 + ["2.0"] * 20) + "]\n"


def test_each_line_gets_an_answer_line() -> None:
    out = io.StringIO()
    line_protocol.answer_lines([STEP, "[]\n", "[1, 2, 3]\n", STEP], out)
    assert out.getvalue() == "[20]\n[]\n[]\n[20]\n"


@pytest.mark.parametrize(
    "line", ["nonsense\n", '{"y": [1]}\n', '[1, "2"]\n', "[true]\n", "\n"]
)
def test_a_line_that_is_no_list_of_numbers_is_named(line: str) -> None:
    out = io.StringIO()
    with pytest.raises(ProblemError, match="line 2 is not a JSON list of numbers"):
        line_protocol.answer_lines([STEP, line], out)
    assert out.getvalue() == "[20]\n"


def test_the_command_answers_before_the_next_line() -> None:
    command = Path(sys.executable).with_name("paceline-server")
    with subprocess.Popen(
        [str(command), "detect", "--stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(STEP)
            process.stdin.flush()
            assert process.stdout.readline() == "[20]\n"
        process.stdin.close()
        assert process.wait(timeout=WITHIN_S) == 0
