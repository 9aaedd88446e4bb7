"""Tests of the reader of lines that a declared pattern finds."""

from __future__ import annotations

import pytest
from paceline_contract.readers.declared_lines import parse_pattern, read_lines
from paceline_contract.results import (
    MeasuredMetric,
    ResultError,
    Sample,
    encode_result,
    read_result,
)

PATTERN = (
    r"\[bench\] (?P<benchmark>.+?)(?: n=(?P<size>\d+))? (?P<arm>native|kotlin): "
    r"(?:(?P<value>[\d.e+-]+|nan|-1) (?P<unit>\S+)|failed: (?P<failure>.*))"
)
TEXT = """\
compiling …
  [bench] sort n=64 native: 1.5 ms
[bench] sort n=64 native: 1600 us
[bench] sort n=64 native: 4096 bytes
[bench] sort all kotlin: 2 s
[bench] copy native: failed: out of memory
[bench] copy native: 3 s
done in 3 s
"""


def test_groups_of_a_pattern_are_the_columns_of_the_lines_that_it_matches() -> None:
    read = read_lines(TEXT.encode(), parse_pattern(PATTERN, []))
    native, kotlin, copy = read.cases
    assert (native.name, native.arm, native.params) == (
        "sort/64 (native)",
        "native",
        {"size": "64"},
    )
    assert native.metrics == [
        MeasuredMetric(
            "time",
            "ns",
            "lower",
            [Sample(1000, 1_500_000_000), Sample(1000, 1_600_000_000)],
        ),
        MeasuredMetric("bytes", "bytes", "lower", [Sample(1000, 4_096_000)]),
    ]
    assert (kotlin.benchmark, kotlin.params) == ("sort all", {})
    assert (copy.failure, copy.metrics) == ("out of memory", [])
    assert read_result(encode_result(read)) == read


def test_a_declaration_says_what_a_group_is_that_is_called_otherwise() -> None:
    declared = parse_pattern(
        r"(?P<what>\w+) (?P<value>\w+) (?P<elapsed>\d+)",
        ["what=benchmark", "elapsed=us", "value=param"],
    )
    (case,) = read_lines(b"sort big 5\n", declared).cases
    assert (case.params, case.metrics[0].name) == ({"value": "big"}, "elapsed")


@pytest.mark.parametrize(
    ("pattern", "options", "said"),
    [
        (r"(\w+) (\d+)", [], "the pattern has no named groups"),
        (r"(?P<benchmark>\w+)\1", [], "no back-references"),
        (r"(?P<benchmark>\w+) (?P<value>\d+)", [], "for value and one for unit"),
        (r"(?P<benchmark>\w+) (?P<n>\d+)", [], "one with figures"),
        (r"(?P<benchmark>\w+) (?P<n>\d+)", ["m=ns"], "of benchmark, n, found m"),
        (r"(?P<a>\w+) (?P<n>\d+)", ["a=benchmark", "n=day "], "found 'day '"),
    ],
)
def test_a_pattern_that_declares_no_figures_is_refused(
    pattern: str, options: list[str], said: str
) -> None:
    with pytest.raises(ResultError, match=said):
        parse_pattern(pattern, options)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[bench] sort native: nan ms", "line 2, value: expected a figure from 0"),
        ("[bench] sort native: -1 ms", "line 2, value: expected a figure from 0"),
        ("[bench] sort native: 1e ms", "line 2, value: expected a number"),
        ("[bench] sort native: 5 furlongs", r"line 2: expected a unit \(.*'furlongs'"),
        ("[bench] sort native: 5 op/s", "line 2, value: expected a rate from 1,000"),
    ],
)
def test_what_is_no_figure_is_refused_with_its_line(line: str, said: str) -> None:
    with pytest.raises(ResultError, match=said):
        read_lines(f"-\n{line}\n".encode(), parse_pattern(PATTERN, []))


def test_lines_that_the_pattern_does_not_match_are_not_taken_for_no_figures() -> None:
    with pytest.raises(ResultError, match="matches no line"):
        read_lines(b"\xff\nsort: 5 ms or so\n", parse_pattern(PATTERN, []))


def test_a_pattern_that_tries_everything_takes_linear_time() -> None:
    """Python's own matching would not end."""
    pattern = r"(?P<benchmark>(?:a|aa)+) (?P<value>\d+) (?P<unit>ns)"
    text = b"a" * 100_000 + b"\n" + b"a 5 ns\n"
    (case,) = read_lines(text, parse_pattern(pattern, [])).cases
    assert case.name == "a"
