"""Tests of the reader of CSV files whose columns somebody declares."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from paceline_contract.readers.declared_csv import parse_columns, read_csv
from paceline_contract.results import (
    MeasuredCase,
    MeasuredMetric,
    ResultError,
    Sample,
    encode_result,
    read_result,
)

DECLARED = [
    "name=benchmark",
    "impl=arm",
    "size=param",
    "why=failure",
    "elapsed=ms",
    "rate=op/s",
]
FILE = """\
\ufeffname,impl,size,elapsed,rate,why,colour
sort,native,64,0.00025,4000000,,red
sort,native,64,0.00026,3900000,,red
sort,kotlin,64,0.5,2000,,red
"copy, all",native,,1,1000,,red
sort,native,128,,,out of memory,red
sort,native,128,0.1,10000,,red
"""


def test_rows_are_samples_of_the_declared_cases_and_metrics() -> None:
    read = read_csv(FILE.encode(), parse_columns(DECLARED))
    native, kotlin, copy, failed = read.cases
    assert native == MeasuredCase(
        "sort/64 (native)",
        "sort",
        {"size": "64"},
        [
            MeasuredMetric(
                "elapsed",
                "ns",
                "lower",
                [Sample(1000, 250_000), Sample(1000, 260_000)],
            ),
            MeasuredMetric(
                "rate", "op/s", "higher", [Sample(1, 4_000_000), Sample(1, 3_900_000)]
            ),
        ],
        arm="native",
    )
    assert (kotlin.benchmark, kotlin.params, kotlin.arm) == (
        native.benchmark,
        native.params,
        "kotlin",
    )
    assert (copy.name, copy.params) == ("copy, all (native)", {})
    assert (failed.failure, failed.metrics) == ("out of memory", [])
    assert read_result(encode_result(read)) == read


IMPORTING = Path(__file__).resolve().parents[2] / "docs/importing.md"
ALLOCATORS = """\
workload,allocator,working_set,ops_per_s
random_mixed,hakmem,256,79200000
random_mixed,system,256,86700000
random_mixed,mimalloc,256,114900000
random_mixed,hakmem,8192,16500000
random_mixed,system,8192,57100000
random_mixed,mimalloc,8192,96500000
"""


def test_each_row_of_an_allocators_rates_is_a_case_by_the_command_of_the_document() -> (
    None
):
    command = re.search(
        r"^paceline import allocators\.csv .*", IMPORTING.read_text("utf-8"), re.M
    )
    assert command is not None
    words = shlex.split(command[0])
    declared = [word for option, word in pairwise(words) if option == "--column"]
    read = read_csv(ALLOCATORS.encode(), parse_columns(declared))
    figures = [
        (case.benchmark, case.arm, case.params["working_set"], sample.total)
        for case in read.cases
        for metric in case.metrics
        for sample in metric.samples
        if (metric.unit, metric.direction) == ("op/s", "higher")
    ]
    rows = [row.split(",") for row in ALLOCATORS.splitlines()[1:]]
    assert figures == [
        (workload, allocator, working_set, float(rate))
        for workload, allocator, working_set, rate in rows
    ]
    assert len(read.cases) == len(rows)


def test_the_unit_of_a_value_may_be_in_its_row_and_params_apart_are_cases_apart() -> (
    None
):
    declared = ["name=benchmark", "v=value", "u=unit", "size=param", "seed=param"]
    rows = "name,v,u,size,seed\nsort,1,ms,7,\nsort,2,bytes,7,\nsort,3,ms,7,8\n"
    first, second = read_csv(rows.encode(), parse_columns(declared)).cases
    assert [metric.name for metric in first.metrics] == ["time", "bytes"]
    assert (first.params, second.params) == ({"size": "7"}, {"size": "7", "seed": "8"})


@pytest.mark.parametrize(
    ("delimiter", "end"), [(";", "\n"), ("\t", "\r\n"), ("|", "\n")]
)
def test_the_first_line_tells_the_delimiter(delimiter: str, end: str) -> None:
    rows = [["name", "elapsed"], ["a,b,c", "1"]]
    text = end.join(delimiter.join(row) for row in rows)
    read = read_csv(text.encode(), parse_columns(["name=benchmark", "elapsed=s"]))
    assert [case.name for case in read.cases] == ["a,b,c"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("sort,fast", "line 3, elapsed: expected a number, found 'fast'"),
        ("sort,nan", "line 3, elapsed: expected a figure from 0, found nan"),
        ("sort,inf", "line 3, elapsed: expected a figure from 0, found inf"),
        ("sort,-1", "line 3, elapsed: expected a figure from 0, found -1.0"),
        ("sort", "line 3, elapsed: expected a number, found None"),
        (",1", "line 3: expected a benchmark in name"),
        pytest.param(f"sort,{'1' * 200_000}", "line 3: field larger", id="long"),
    ],
)
def test_what_is_no_figure_is_refused_with_its_line(row: str, said: str) -> None:
    columns = parse_columns(["name=benchmark", "elapsed=ms"])
    with pytest.raises(ResultError, match=said):
        read_csv(f"name,elapsed\nsort,1\n{row}\n".encode(), columns)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["name"], "expected COLUMN=ROLE, found 'name'"),
        (["a=benchmark", "b=fortnight"], "expected .* or a unit .*'fortnight'"),
        (["a=benchmark"], "expected a column for the benchmark and one with figures"),
        (["a=ms"], "expected a column for the benchmark and one with figures"),
        (["a=benchmark", "a=ms"], "the column a is declared twice"),
        (["a=benchmark", "b=benchmark", "c=ms"], "one column for benchmark"),
        (["a=benchmark", "b=value"], "a column for value and one for unit"),
    ],
)
def test_a_declaration_that_means_nothing_is_refused(
    options: list[str], said: str
) -> None:
    with pytest.raises(ResultError, match=said):
        parse_columns(options)


@pytest.mark.parametrize(
    "data", [b"", b"name\nsort\n", b"name,name,elapsed\na,b,1\n", b"\xff\xfe"]
)
def test_a_file_without_a_declared_column_is_refused(data: bytes) -> None:
    columns = parse_columns(["name=benchmark", "elapsed=ms"])
    with pytest.raises(ResultError, match=r"expected one column|not UTF-8"):
        read_csv(data, columns)
