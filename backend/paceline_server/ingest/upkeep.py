"""What time does to what arrived: the texts that a device's commands printed are kept for a while only.

Place: called by the sweeper, in transactions of its own. Invariants: what was read out of the texts, which is
what verdicts rest on, stays for ever; a transaction takes few jobs, because on SQLite it holds up every
writer; idle, it only reads.
"""

from __future__ import annotations

from datetime import timedelta

from paceline_server.ingest import queries
from paceline_server.kernel import clock
from paceline_server.store.session import read_scope, session_scope

KEEP_RAW = timedelta(days=90)
"""Since the job's end. A quarter, as readings of idle devices: whoever doubts a reading does so by then. A
job of ten launches leaves up to 6 MiB of them."""
JOBS_AT_ONCE = 20


def forget_raw() -> int:
    """Remove raw texts that are old; returns of how many jobs."""
    before, jobs = clock.now() - KEEP_RAW, 0
    while True:
        with read_scope() as session:
            old = queries.jobs_with_old_raw(session, before, JOBS_AT_ONCE)
        if not old:
            return jobs
        with session_scope() as session:
            queries.forget_raw(session, old)
        jobs += len(old)
