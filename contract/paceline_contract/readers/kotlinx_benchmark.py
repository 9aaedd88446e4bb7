"""Reads the JSON that kotlinx-benchmark writes for Native, JavaScript and Wasm. On the JVM it starts JMH, whose file it is.

It has the form of JMH's without what only processes of a JVM have. A benchmark that failed is not in the file.
"""

from __future__ import annotations

from paceline_contract.readers.jmh import JmhEntry, case_of
from paceline_contract.readers.parsing import read_document
from paceline_contract.results import Result, ResultError, refuse_duplicates

TOOL = "kotlinx-benchmark"


def read_json(data: bytes) -> Result:
    """Read a report in JSON. Raises ResultError."""
    entries = read_document(data, TOOL, list[JmhEntry])
    if any(entry.forks is not None for entry in entries):
        raise ResultError(
            f"the results of {TOOL} have an unexpected form: forks are JMH's alone"
        )
    return Result(TOOL, refuse_duplicates(case_of(entry) for entry in entries))
