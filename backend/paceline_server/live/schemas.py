"""Wire shape of a live event; its `id` is the SSE id after which a client resumes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline_server.kernel.wire import Response

LiveKind = Literal[
    "run", "job", "progress", "samples", "conditions", "log", "alert", "target"
]


class LiveEventOut(Response):
    id: int
    kind: LiveKind
    at: datetime
    run_id: str | None
    job_id: str | None
    data: dict[str, Any]
