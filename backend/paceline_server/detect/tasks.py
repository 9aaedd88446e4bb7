"""What carries out `job.analyse`: computing happens before the write transaction begins."""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.detect import service
from paceline_server.store.outbox import handles_after_reading


@handles_after_reading("job.analyse", service.analyse_job)
def analyse(session: Session, _key: str, found: service.Analysed | None) -> None:
    """Extend or conclude the job."""
    service.conclude_job(session, found)
