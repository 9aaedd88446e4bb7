"""Retires benchmarks that were removed on purpose, so that nothing reports them as missing.

Only a benchmark that was measured before and is no longer declared can be retired, so a typo retires nothing and a
declared benchmark is never hidden. Points stay.
"""

from __future__ import annotations

from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, not_found
from paceline_server.series import queries
from paceline_server.series.schemas import RetiredOut
from paceline_server.store import audit
from paceline_server.store.tables.retired_benchmarks import RetiredBenchmark

SEPARATOR = "/"
"""Separates benchmark and arm in a key; names never contain it."""


def retired_key(benchmark: str, arm: str | None) -> str:
    """Return the key under which a benchmark, or one arm of it, is stored."""
    return benchmark if arm is None else f"{benchmark}{SEPARATOR}{arm}"


def list_retired(session: Session, suite: str) -> list[RetiredOut]:
    """Return retired benchmarks and arms of a suite, by name."""
    return [_retired_out(row) for row in queries.retired_benchmarks(session, suite)]


def retired_reasons(session: Session, suite: str) -> dict[str, str]:
    """Return why benchmarks and arms of a suite were retired, by `retired_key`."""
    return {
        row.benchmark: row.reason for row in queries.retired_benchmarks(session, suite)
    }


def retire(
    session: Session,
    suite: str,
    benchmark: str,
    arm: str | None,
    *,
    reason: str,
    who: str,
) -> RetiredOut:
    """Retire a benchmark or an arm; retiring it again replaces the reason.

    Raises 404 if it was never measured, 409 `still_declared` if the manifest still has it."""
    declared = read_manifest(catalog.find(session, suite).manifest).benchmarks.get(
        benchmark
    )
    if declared is not None and (arm is None or arm in declared.arms):
        raise conflict(
            f"The newest manifest of {suite} still declares {retired_key(benchmark, arm)}. Remove it from "
            "suite.toml first, otherwise it would be measured but never shown.",
            "still_declared",
        )
    if not queries.was_measured(session, suite, benchmark, arm):
        raise not_found("benchmark", retired_key(benchmark, arm))
    row = queries.retired_benchmark(session, suite, retired_key(benchmark, arm))
    if row is None:
        row = RetiredBenchmark(suite=suite, benchmark=retired_key(benchmark, arm))
        session.add(row)
    row.reason, row.retired_by, row.retired_at = reason, who, clock.now()
    session.flush()
    audit.record(
        session,
        who,
        "retire",
        "benchmark",
        f"{suite}/{row.benchmark}",
        {"reason": reason},
    )
    return _retired_out(row)


def restore(
    session: Session, suite: str, benchmark: str, arm: str | None, who: str
) -> None:
    """Undo a retirement: runs report it as missing again. Raises 404 if it was not retired."""
    row = queries.retired_benchmark(session, suite, retired_key(benchmark, arm))
    if row is None:
        raise not_found("retired benchmark", retired_key(benchmark, arm))
    audit.record(
        session,
        who,
        "restore",
        "benchmark",
        f"{suite}/{row.benchmark}",
        {"reason": row.reason},
    )
    session.delete(row)


def _retired_out(row: RetiredBenchmark) -> RetiredOut:
    benchmark, _, arm = row.benchmark.partition(SEPARATOR)
    return RetiredOut.of_row(row, benchmark=benchmark, arm=arm or None)
