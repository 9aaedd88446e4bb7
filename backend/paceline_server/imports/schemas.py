"""Wire shapes of imports: the document as `paceline import` writes it, and what the server makes of it.

Place: the edge of the feature. Invariants: of a document only printed figures are read; differences, shares
and sentences are computed here (I17), whatever the sender computed beside them; times are whole nanoseconds.
The document is a file format with a version of its own, so unlike other requests it may hold fields that this
server does not know.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

from paceline_server.catalog.schemas import ParamValue
from paceline_server.imports.criterion.schemas import (
    CriterionIn,
    ImportedRunOut,
    MeasuredOnIn,
)
from paceline_server.kernel.wire import Request, Response

MAX_SESSIONS = 1_000
MAX_ROWS = 1_000
"""Of one session; a benchmark prints a handful."""
MAX_RECORDS = 20_000
"""Lines of one document; with 8 MiB per request it is the smaller limit for real logs."""
MAX_CLAIMS = 100

Text = Annotated[str, Field(max_length=2_000)]
Short = Annotated[str, Field(max_length=200)]
Line = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class QuantityIn(_Part):
    """A printed number in base units; the true one lies from `low` to `high`."""

    printed: Short
    value: Count
    low: Count
    high: Count
    unit: Short

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError("expected low <= value <= high")
        return self


class RowIn(_Part):
    """Both averages of one batch size of one session."""

    arm: Short
    batch: Count
    average: QuantityIn
    fallback: QuantityIn
    lines: Annotated[tuple[Line, Line], Strict(False)]


class HeadingIn(_Part):
    name: Short
    api: Count
    note: Short = ""
    warmup_rounds: Count | None = None


class SessionIn(_Part):
    line: Line | None = None
    device: Short | None = None
    api: Count | None = None
    heading: HeadingIn | None = None
    rows: Annotated[list[RowIn], Field(max_length=MAX_ROWS)] = []


class RecordIn(_Part):
    line: Line
    pattern: Short
    text: Annotated[str, Field(max_length=20_000)] = ""


class ClaimIn(_Part):
    """A sentence about one batch size; `percent` above 0 is slower."""

    line: Line
    batch: Count
    percent: float
    about: bool
    printed: Short
    text: Text


class PolicyIn(_Part):
    minimum: Count
    unit: Short | None = None
    warmup_rounds: Count | None = None
    lines: list[Line] = []
    text: Annotated[str, Field(max_length=4_100)] = ""


class LogIn(_Part):
    lines: Count
    records: Annotated[list[RecordIn], Field(max_length=MAX_RECORDS)] = []
    sessions: Annotated[list[SessionIn], Field(max_length=MAX_SESSIONS)] = []
    claims: Annotated[list[ClaimIn], Field(max_length=MAX_CLAIMS)] = []
    policy: PolicyIn | None = None


class DocumentIn(_Part):
    """What `paceline import` stores as import.json."""

    v: Literal[1]
    format: Literal["logcat"]
    file: Short
    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    why_no_samples: Text
    log: LogIn


class ImportIn(Request):
    """`title`: what people call it; without one it is named after its file. `measured_on` is for criterion's
    runs alone."""

    document: Annotated[DocumentIn | CriterionIn, Field(discriminator="format")]
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    measured_on: MeasuredOnIn = Field(default_factory=MeasuredOnIn)


class ImportOut(Response):
    """One stored document. `devices`: as its headings name them, or what criterion's runs were measured on;
    `row_count`: its rows, or series; `note_count`: rows that something in the document disagrees with."""

    id: str
    title: str
    format: str
    source: str
    sha256: str
    imported_at: datetime
    imported_by: str
    devices: list[str]
    row_count: int
    note_count: int


class StatedOut(Response):
    """What a sentence of the document says of a row: a signed percentage, above 0 slower. `agrees`: whether
    the printed averages can mean that."""

    percent: float
    about: bool
    agrees: bool
    text: str
    line: int


class ImportedRowOut(Response):
    """Both averages of one batch size on one device. `percent`: arm ÷ reference − 1, computed, above 0 the
    arm is slower; from `lower_percent` to `upper_percent` by what printing rounded off alone: no confidence.
    """

    id: str
    device: str
    model: str | None
    api: int | None
    variant: str | None
    warmup_rounds: int | None
    params: dict[str, int]
    arm: str
    reference: str
    value_ns: int
    value_printed: str
    reference_ns: int
    reference_printed: str
    delta_ns: int
    delta_words: str
    percent: float | None
    lower_percent: float | None
    upper_percent: float | None
    words: str
    stated: list[StatedOut]
    notes: list[str]
    verdict: Literal["insufficient"]
    why: str
    raw: list[str]


class ImportedInForceOut(Response):
    minimum: int
    warmup_rounds: int | None


class ImportedPolicyOut(Response):
    """The policy in force as the document states it."""

    in_force: ImportedInForceOut
    unit: str | None
    words: str
    source_text: str
    lines: list[int]


class ImportedAdviceOut(Response):
    """The policy held against what was measured on one target (STATISTICS §3), or against an imported device,
    of which there are no samples. `params`: the point of the policy's other params; advice is about one.
    `holds` null: nobody can say."""

    target_id: str | None
    target_name: str
    simulated: bool
    suite: str | None
    policy: str | None
    params: dict[str, ParamValue]
    measured_at: datetime | None
    holds: bool | None
    words: str
    why: str


class ImportDetailOut(ImportOut):
    """`other_lines`: lines read that are no rows, such as counters, with their own sentences. `runs`: what
    criterion measured, which has samples and no rows; then `why_no_samples` is empty, and `why_no_verdict`
    says why they are not judged."""

    rows: list[ImportedRowOut]
    policy: ImportedPolicyOut | None
    advice: list[ImportedAdviceOut]
    other_lines: list[str]
    why_no_samples: str
    why_no_verdict: str = ""
    runs: list[ImportedRunOut] = Field(default_factory=list)
