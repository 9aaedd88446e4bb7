"""Wire shapes of imports: documents that `paceline import` writes, and the server's answers.

Only printed figures are read from a document; the server computes differences, shares and
sentences (I17). A document has its own version, so unlike other requests it may hold
fields that this server does not know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from paceline_contract.events import ParamValue
from paceline_contract.manifest import NAME
from paceline_contract.recordings import (
    ReadRecording,
    Recording,
    RecordingError,
    read_recording,
)
from paceline_contract.results import FORMAT, Result, ResultError, read_result
from paceline_contract.units import Unit
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    Strict,
    StringConstraints,
    model_validator,
)

from paceline_server.imports.originals import (
    Original,
    check_original,
    unpack_original,
)
from paceline_server.kernel.wire import Request, Response

MAX_SESSIONS = 1_000
MAX_ROWS = 1_000
"""Rows of a session; a benchmark prints only a few."""
MAX_RECORDS = 20_000
"""Lines of a document; real logs reach this limit before 8 MiB."""
MAX_SERIES = 10_000

Text = Annotated[str, Field(max_length=2_000)]
Short = Annotated[str, Field(max_length=200)]
Line = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _DocumentPart(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class QuantityIn(_DocumentPart):
    """A printed number in base units; the true one is between `low` and `high`."""

    printed: Short
    value: Count
    low: Count
    high: Count
    unit: Short

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError("expected low <= value <= high")
        return self


class RowIn(_DocumentPart):
    """Both averages of a batch size in a session."""

    arm: Short
    batch: Count
    average: QuantityIn
    fallback: QuantityIn
    lines: Annotated[tuple[Line, Line], Strict(False)]


class HeadingIn(_DocumentPart):
    name: Short
    api: Count
    note: Short = ""
    warmup_rounds: Count | None = None


class SessionIn(_DocumentPart):
    line: Line | None = None
    device: Short | None = None
    api: Count | None = None
    heading: HeadingIn | None = None
    rows: Annotated[list[RowIn], Field(max_length=MAX_ROWS)] = []


class RecordIn(_DocumentPart):
    line: Line
    pattern: Short
    text: Annotated[str, Field(max_length=20_000)] = ""


class PolicyIn(_DocumentPart):
    minimum: Count
    unit: Short | None = None
    warmup_rounds: Count | None = None
    lines: list[Line] = []
    text: Annotated[str, Field(max_length=4_100)] = ""


class LogIn(_DocumentPart):
    lines: Count
    records: Annotated[list[RecordIn], Field(max_length=MAX_RECORDS)] = []
    sessions: Annotated[list[SessionIn], Field(max_length=MAX_SESSIONS)] = []
    policy: PolicyIn | None = None


class LogcatIn(_DocumentPart):
    """The import.json that `paceline import` writes for a log."""

    v: Literal[1]
    format: Literal["logcat"]
    file: Short
    bytes: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    why_no_samples: Text
    log: LogIn


class ResultIn(BaseModel):
    """A `paceline.result/1`, the document of every other tool. Its fields are those of the contract
    (`native/protocol/result.schema.json`), which checks them."""

    model_config = ConfigDict(extra="allow", strict=True)

    format: Literal["paceline.result/1"]
    tool: str
    cases: list[dict[str, Any]]
    _result: Result = PrivateAttr()

    @model_validator(mode="after")
    def _read(self) -> Self:
        try:
            self._result = read_result(json.dumps(self.model_dump()).encode())
        except ResultError as error:
            raise ValueError(str(error)) from error
        return self

    @classmethod
    def of(cls, result: Result) -> Self:
        """Return the document of a result that was read here, which is not read again."""
        document = cls.model_construct(format=FORMAT, tool=result.tool, cases=[])
        document._result = result
        return document

    @property
    def result(self) -> Result:
        """Return the document as the contract reads it."""
        return self._result


class RecordingIn(BaseModel):
    """A `paceline.recording/1`, what `paceline run` or `paceline ab` measured without a server: its lines
    (`native/protocol/recording.schema.json`) as the Base64 of a gzip."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["paceline.recording/1"]
    gzip: str
    _read: ReadRecording = PrivateAttr()
    _sha256: str = PrivateAttr()

    @model_validator(mode="after")
    def _check(self) -> Self:
        original = check_original(self.gzip)
        self._sha256 = original.sha256
        try:
            self._read = read_recording(b"".join(unpack_original(original.packed)))
        except RecordingError as error:
            raise ValueError(str(error)[:500]) from error
        return self

    @property
    def recording(self) -> Recording:
        """Return the first line."""
        return self._read.recording

    @property
    def bodies(self) -> Sequence[bytes]:
        """Return the other lines, unread."""
        return self._read.bodies

    @property
    def sha256(self) -> str:
        """Return the hash of the lines."""
        return self._sha256


class OriginalIn(BaseModel):
    """The file that a document was read from: its name, and its bytes as the Base64 of a gzip."""

    model_config = ConfigDict(extra="forbid", strict=True)

    file: Annotated[str, Field(min_length=1, max_length=200)]
    gzip: str
    _original: Original = PrivateAttr()

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._original = check_original(self.gzip)
        return self

    @classmethod
    def of(cls, file: str, original: Original) -> Self:
        """Return a file that was packed here, which is not checked again."""
        packed = cls.model_construct(file=file, gzip="")
        packed._original = original
        return packed

    @property
    def original(self) -> Original:
        """Return the file, checked."""
        return self._original


class MeasuredOnIn(BaseModel):
    """Where and what was measured. `suite` names an announced suite, whose gates apply to benchmarks of the same
    name; `on` names the target; `commit` is the revision that was measured, where the document does not say it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    suite: Annotated[str, StringConstraints(pattern=f"^{NAME}$")] | None = None
    on: Annotated[str, Field(min_length=1, max_length=100)] = "imported"
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None = None


class ImportIn(Request):
    """A document to store; `title` defaults to its file name. `measured_on` applies to documents with samples; a
    `paceline.recording/1` has its own target, unless `on` names another, and is always judged. `original`
    is the file it was read from; without it a `paceline.result/1` is kept itself, and of others nothing is. `judge`: the
    points of a `paceline.result/1` count in the history of their series, like measured ones. `notify`: whether people hear
    of a change at these points; by default they do if the document is judged and was measured within the last three
    days."""

    document: Annotated[
        LogcatIn | ResultIn | RecordingIn,
        Field(discriminator="format"),
    ]
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    measured_on: MeasuredOnIn = Field(default_factory=MeasuredOnIn)
    original: OriginalIn | None = None
    judge: bool = False
    notify: bool | None = None

    @model_validator(mode="after")
    def _check_judge(self) -> Self:
        if self.judge and not isinstance(self.document, ResultIn):
            raise ValueError(
                f"judge: only a {FORMAT} can be judged, and this document is a {self.document.format}"
            )
        if self.notify and not (self.judge or isinstance(self.document, RecordingIn)):
            raise ValueError(
                "notify: nothing is found in a history that is not judged: send judge as well"
            )
        return self


class ImportOut(Response):
    """A stored document. `devices` are the devices of its headings, or the target of its runs.
    `row_count` counts rows or series. `original_bytes` is the size of the kept file, null where none is."""

    id: str
    title: str
    format: str
    source: str
    sha256: str
    imported_at: datetime
    imported_by: str
    devices: list[str]
    row_count: int
    original_bytes: int | None = None


class ImportedRowOut(Response):
    """Both averages of a batch size on a device. `percent` is arm ÷ reference − 1, above 0 the arm is slower;
    `lower_percent` and `upper_percent` only reflect the rounding of printed figures, not confidence."""

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
    """The policy compared with measurements on a target (stats/README.md §3), or with an imported device, which has no
    samples. `params` is the point of the policy's other params. `holds` is null if it is unknown."""

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


class ImportedSeriesOut(Response):
    """A benchmark of an imported run; `median` is per iteration, in `unit`. `outliers_mild` and `outliers_severe` count samples beyond Tukey's fences at
    1.5 and 3 interquartile ranges; these samples are kept. `summary` is `mean`, `median`, `minimum` or `maximum` where the
    tool kept no samples: then that is the only one."""

    id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str = "time"
    unit: Unit = "ns"
    samples: int
    median: Annotated[
        float, Field(validation_alias=AliasChoices("median", "median_ns"))
    ]
    """Imports of before have `median_ns`, always of a time."""
    outliers_mild: int
    outliers_severe: int
    summary: str | None = None


class ImportedRunOut(Response):
    """An imported run. `baseline` is the branch of its series. `commit` and `at`, the time of measuring, are null where
    nobody said them."""

    run_id: str
    job_id: str
    baseline: str
    commit: str | None = None
    at: datetime | None = None
    series: list[ImportedSeriesOut]


class LeftOutOut(Response):
    """A series of a document that no run has, where it was read, and why."""

    id: str | None
    path: str | None
    why: str


class ImportPreviewOut(Response):
    """What would be stored of a file: its tool, what it says about its origin, and its series, of which `series` lists the
    first 200. `left_out` is what would be in no run. Null is what the file does not say."""

    tool: str
    version: str | None
    at: datetime | None
    commit: str | None
    branch: str | None
    facts: dict[str, str]
    case_count: int
    series_count: int
    units: list[Unit]
    series: list[ImportedSeriesOut]
    left_out: list[LeftOutOut]


class ImportDetailOut(ImportOut):
    """A stored document with its contents. `other_lines` belong to no row, such as counters. A document with samples
    has `runs` instead of rows; `why_no_verdict` says why they have no verdict, `left_out` what is in none of them. `tool`
    is the tool and its version, `facts` what it says about the build and the machine. `judged`: its points count in history;
    `notifies`: people hear of changes at them. `replaced_by` is the import of the corrected file, whose points count
    instead."""

    rows: list[ImportedRowOut]
    policy: ImportedPolicyOut | None
    advice: list[ImportedAdviceOut]
    other_lines: list[str]
    why_no_samples: str
    why_no_verdict: str = ""
    runs: list[ImportedRunOut] = Field(default_factory=list)
    left_out: list[LeftOutOut] = Field(default_factory=list)
    tool: str | None = None
    facts: dict[str, str] = Field(default_factory=dict)
    judged: bool = False
    notifies: bool = False
    replaced_by: str | None = None
