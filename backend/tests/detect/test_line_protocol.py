"""`detect --stdin` scores a list of values per line."""

from __future__ import annotations

import io
import json
import math
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
    notes = io.StringIO()
    line_protocol.answer_lines([STEP, "[]\n", "[1, 2, 3]\n", STEP], out, notes)
    assert out.getvalue() == "[20]\n[]\n[]\n[20]\n"
    assert notes.getvalue() == (
        "line 2 cannot be judged: 0 points; history needs 12\n"
        "line 3 cannot be judged: 3 points; history needs 12\n"
    )


@pytest.mark.parametrize("odd", [0.0, -3.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("places", [[0], [5], [19, 20], [40], [3, 7, 30]])
def test_a_value_that_can_be_no_time_is_left_out_and_the_step_is_found(
    odd: float, places: list[int]
) -> None:
    values = [1.0] * 20 + [2.0] * 20
    for place in places:
        values.insert(place, odd)
    out, notes = io.StringIO(), io.StringIO()
    line_protocol.answer_lines([json.dumps(values)], out, notes)
    assert json.loads(out.getvalue()) == [values.index(2.0)]
    assert f"{len(places)} of {len(values)} values can be no measured time" in (
        notes.getvalue()
    )
    assert f"the first at index {places[0]}\n" in notes.getvalue()


@pytest.mark.parametrize(
    "line", ["nonsense\n", '{"y": [1]}\n', '[1, "2"]\n', "[true]\n", "\n"]
)
def test_a_line_that_is_no_list_of_numbers_is_named(line: str) -> None:
    out = io.StringIO()
    with pytest.raises(ProblemError, match="line 2 is not a JSON list of numbers"):
        line_protocol.answer_lines([STEP, line], out, io.StringIO())
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
