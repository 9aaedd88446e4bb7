"""Wire shapes of noise floors."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from paceline_server.catalog.schemas import ParamValue
from paceline_server.kernel.wire import Response


class NoiseFloorOut(Response):
    """What a target resolves of one measurement, by its newest A/A job: a true effect as large as `mde` (a
    share) is called slower in 80 of 100 jobs, a smaller one less often. `lower`, `upper`: the interval of the
    A/A ratio itself, which should hold 1. A rule that asks for less than `mde` is refused;
    `proposed_threshold` is what it had better ask for."""

    id: str
    target_id: str
    target_name: str
    suite: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    mde: float = Field(ge=0)
    proposed_threshold: float
    lower: float
    upper: float
    blocks: int
    launches: int
    run_id: str
    job_id: str
    measured_at: datetime
    words: str
