"""Deletes old texts that devices' commands printed; the values parsed from them stay.

A transaction covers few jobs, because on SQLite it blocks every other writer.
"""

from __future__ import annotations

from datetime import timedelta

from paceline_server.ingest import queries
from paceline_server.kernel import clock
from paceline_server.store.session import read_scope, session_scope

KEEP_RAW = timedelta(days=90)
"""Since the job's end: long enough to question a reading. A job of ten launches leaves up to 6 MiB."""
JOBS_AT_ONCE = 20


def forget_raw() -> int:
    """Remove raw texts of old jobs; returns the number of jobs."""
    before, jobs = clock.now() - KEEP_RAW, 0
    while True:
        with read_scope() as session:
            old = queries.jobs_with_old_raw(session, before, JOBS_AT_ONCE)
        if not old:
            return jobs
        with session_scope() as session:
            queries.forget_raw(session, old)
        jobs += len(old)
