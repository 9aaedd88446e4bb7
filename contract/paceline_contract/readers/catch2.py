"""Reads the XML of Catch2, which has no samples: a benchmark is its mean.

A document with a DTD is refused, because entities may stand for more than any machine can hold.
"""

from __future__ import annotations

from xml.parsers import expat

from paceline_contract.readers.parsing import check_document, read_figure
from paceline_contract.results import (
    MAX_TEXT,
    MeasuredCase,
    MeasuredMetric,
    Result,
    ResultError,
    Summary,
    refuse_duplicates,
)

TOOL = "catch2"
ROOTS = ("Catch2TestRun", "Catch")
"""The root of versions 3 and 2."""


class _Parsing:
    """State of one parsing."""

    def __init__(self) -> None:
        self.version: str | None = None
        self.cases: list[MeasuredCase] = []
        self._depth = 0
        self._path: list[str] = []
        """The names of the test case and its sections, around the present element."""
        self._benchmark: dict[str, str] | None = None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self._depth += 1
        if self._depth == 1:
            if element not in ROOTS:
                raise ResultError(
                    f"expected {' or '.join(ROOTS)} from Catch2 (--reporter xml), found {element}"
                )
            self.version = attributes.get("catch2-version")
        elif element in ("TestCase", "Section"):
            self._path.append(attributes.get("name", ""))
        elif element == "BenchmarkResults":
            self._benchmark = attributes
        elif self._benchmark is not None and element == "mean":
            name = self._name_benchmark()
            value = _number(attributes.get("value"), f"the mean of {name}")
            count = self._benchmark.get("samples", "")
            summary = Summary("mean", value, int(count) if count.isdecimal() else None)
            metric = MeasuredMetric("time", "ns", "lower", summary=summary)
            self.cases.append(MeasuredCase(name, name, metrics=[metric]))
        elif self._benchmark is not None and element == "failed":
            name = self._name_benchmark()
            failure = attributes.get("message") or "it failed"
            self.cases.append(MeasuredCase(name, name, failure=failure))

    def end(self, element: str) -> None:
        """Take the end of an element."""
        self._depth -= 1
        if element in ("TestCase", "Section"):
            self._path.pop()
        elif element == "BenchmarkResults":
            self._benchmark = None

    def _name_benchmark(self) -> str:
        """Raise ResultError for a name that is no text of a result: it would be made again for every benchmark."""
        own = "" if self._benchmark is None else self._benchmark.get("name", "")
        length = sum(map(len, self._path)) + len(own)
        if length > MAX_TEXT:
            raise ResultError(
                f"a benchmark's name has {length:,} characters with its test case and sections: expected at most "
                f"{MAX_TEXT:,}"
            )
        return " > ".join([*self._path, own])


def read_xml(data: bytes) -> Result:
    """Read what `--reporter xml` wrote. Raises ResultError."""
    check_document(data, "Catch2")
    parsing = _Parsing()
    parser = expat.ParserCreate()
    parser.StartElementHandler = parsing.start
    parser.EndElementHandler = parsing.end
    parser.StartDoctypeDeclHandler = _refuse_dtd
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        # Also for an encoding that nobody knows, or that expat does not read.
        place = parser.ErrorByteIndex / (len(data) + 1)
        raise ResultError(
            f"the results of Catch2 are not XML: {error}", max(0.0, place)
        ) from error
    return Result(TOOL, refuse_duplicates(parsing.cases), parsing.version)


def _refuse_dtd(*_: object) -> None:
    raise ResultError("the results of Catch2 have a DTD: expected elements alone")


def _number(text: str | None, where: str) -> float:
    """Return the figure in a text. Raises ResultError, which says `where`."""
    try:
        figure = float(text or "")
    except ValueError:
        raise ResultError(f"{where}: expected a number, found {text!r}") from None
    return read_figure(figure, where)
