"""Deletes the raw output of devices' commands after a while; the values parsed from it stay.

Each transaction covers few jobs, because on SQLite it blocks every other writer.
"""

from __future__ import annotations

from datetime import timedelta

from paceline_server.ingest import queries
from paceline_server.kernel import clock
from paceline_server.store.session import read_scope, session_scope

KEEP_RAW = timedelta(days=90)
"""Raw output is kept this long after the job's end, in case somebody doubts a reading. A job of ten launches has up to
6 MiB of it."""
JOBS_AT_ONCE = 20


def delete_raw() -> int:
    """Delete the raw output of old jobs; returns the number of jobs."""
    before, job_count = clock.now() - KEEP_RAW, 0
    while True:
        with read_scope() as session:
            job_ids = queries.jobs_with_old_raw(session, before, JOBS_AT_ONCE)
        if not job_ids:
            return job_count
        with session_scope() as session:
            queries.delete_raw(session, job_ids)
        job_count += len(job_ids)
