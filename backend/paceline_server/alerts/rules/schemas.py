"""Wire shapes of rules, their versions and mutes, of a replay and of orphans."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from paceline_contract.events import ParamValue
from pydantic import Field, StringConstraints, field_validator, model_validator

from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts.registry import (
    RuleKindName,
    asks_period,
    built_in_rule_names,
)
from paceline_server.kernel.globs import ANY
from paceline_server.kernel.wire import Request, Response

LONGEST_MUTE_DAYS = 90
"""Days of the longest mute; a rule that should be silent for longer is switched off instead, which everybody sees."""
LONGEST_REPLAY_DAYS = 365
"""Days of the longest replay; nobody remembers the conditions of older points."""
LONGEST_PERIOD_DAYS = 90
"""Days of the longest period; what arrives less often is not expected."""

Direction = Literal["worse", "both"]
Mode = Literal["active", "shadow", "off"]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
RuleName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
Text = Annotated[str, Field(max_length=2000)]


class AlertRuleIn(Request):
    """A rule as its author writes it.

    In patterns, `*` matches any characters. `min_effect` is a fraction: 0.03 is 3 %. For a rule of kind
    arm_slower it is added to the margin of the suite's manifest. `period_hours` says how often something must arrive, for
    a kind that asks for it. Of a silent agent, `target` matches the agent's name."""

    name: RuleName
    kind: RuleKindName = "history"
    suite: Pattern = "*"
    benchmark: Pattern = "*"
    arm: Pattern = "*"
    metric: Pattern = "*"
    target: Pattern = "*"
    min_effect: float = Field(default=0.03, ge=0, le=10)
    direction: Direction = "worse"
    mode: Mode = "active"
    period_hours: float | None = Field(default=None, ge=1, le=LONGEST_PERIOD_DAYS * 24)
    text: Text = ""
    """What the rule is for; if empty, a sentence made of the fields above."""
    comment: Text = ""
    """Why this version was saved."""
    owner_id: str | None = None
    """An account; if omitted, the account that saves the rule first."""

    @field_validator("name")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in built_in_rule_names():
            raise ValueError("this is the name of a built-in rule")
        return name

    @model_validator(mode="after")
    def _period(self) -> Self:
        if asks_period(self.kind) is (self.period_hours is None):
            raise ValueError(
                f"a rule of kind {self.kind} needs period_hours, such as 24"
                if self.period_hours is None
                else f"a rule of kind {self.kind} takes no period_hours"
            )
        return self

    @model_validator(mode="after")
    def _whole_suites(self) -> Self:
        patterns = (self.benchmark, self.arm, self.metric, self.target)
        if asks_period(self.kind) and patterns != (ANY,) * len(patterns):
            raise ValueError(
                f"a rule of kind {self.kind} is about whole suites: leave out benchmark, arm, metric and target"
            )
        return self


class AlertRuleUpdateIn(AlertRuleIn):
    based_on: int = Field(ge=1)
    """The version this one is based on; 409 when somebody else saved one meanwhile."""


class MuteIn(Request):
    reason: str = Field(min_length=1, max_length=2000)
    hours: float = Field(gt=0, le=LONGEST_MUTE_DAYS * 24)


class MuteOut(Response):
    id: str
    reason: str
    until: datetime
    muted_by: str
    created_at: datetime
    ended_at: datetime | None


class PrecisionOut(Response):
    """How the alerts of a rule ended.

    `worth_it` counts fixed, expected and acknowledged alerts, `false` counts invalid, vanished and infra.
    `share` is worth_it / (worth_it + false), null below five outcomes."""

    worth_it: int
    false: int
    undecided: int
    share: float | None
    words: str


class FloorOut(Response):
    """The noisiest series a rule decides about; `mde` is a share."""

    mde: float
    suite: str
    benchmark: str
    arm: str
    metric: str
    params: dict[str, ParamValue]
    target_id: str
    target_name: str
    measured_at: datetime
    words: str


class AlertRuleVersionOut(Response):
    version: int
    kind: RuleKindName
    suite: str
    benchmark: str
    arm: str
    metric: str
    target: str
    min_effect: float
    direction: Direction
    mode: Mode
    period_hours: float | None
    text: str
    comment: str
    owner: AccountOut | None
    created_by: str
    created_at: datetime


class AlertRuleOut(AlertRuleVersionOut):
    id: str
    name: str
    mute: MuteOut | None
    precision: PrecisionOut


class AlertRuleDetailOut(AlertRuleOut):
    floor: FloorOut | None
    """The noisiest series it decides about; null if no A/A job has measured one."""
    mutes: list[MuteOut]
    """All of its mutes, the newest first."""


class ShippedRuleOut(Response):
    """A rule that is not stored: of a suite's manifest, or built in (`suite` is null). It watches `metric`, by default
    the primary one, of `arms`."""

    suite: str | None
    name: str
    kind: RuleKindName
    text: str
    benchmark: str | None
    arms: list[str]
    metric: str | None


class AppliedOut(Response):
    """The rule that decides about a measurement; `rule_id` is null for a built-in default."""

    rule_id: str | None
    version: int | None
    name: str
    text: str
    kind: RuleKindName
    min_effect: float
    direction: Direction
    mode: Mode
    muted: str | None


class ReplayIn(Request):
    """A rule as it would be saved; `rule_id` names the rule it would replace."""

    rule: AlertRuleIn
    rule_id: str | None = None
    days: int = Field(default=30, ge=1, le=LONGEST_REPLAY_DAYS)


class FiredOut(Response):
    """A finding for which the rule would have raised an alert. `effect` is a share, above 0 is worse."""

    at: datetime
    commit: str
    suite: str
    benchmark: str
    arm: str
    metric: str
    params: dict[str, ParamValue]
    target_id: str
    target_name: str
    effect: float
    words: str
    alert_id: str | None
    alert_state: str | None


class TargetCountOut(Response):
    target_id: str
    target_name: str
    fired: int


class ReplayOut(Response):
    """The alerts a rule would have raised.

    `fired` counts alerts: findings of a target at the same commit in the same direction are one alert.
    `findings` has the newest first, at most 200 of `findings_total`."""

    days: int
    fired: int
    findings_total: int
    by_target: list[TargetCountOut]
    words: str
    findings: list[FiredOut]


class OrphanRuleOut(Response):
    rule_id: str
    name: str
    reason: str


class UnruledOut(Response):
    """A measurement about which only the built-in default decides."""

    suite: str
    benchmark: str
    arm: str
    metric: str
    target_id: str
    target_name: str
    series: int


class OrphansOut(Response):
    """Rules that match no live series, and series that no stored rule matches (at most 200 of `unruled_total`)."""

    living_days: int
    rules: list[OrphanRuleOut]
    unruled: list[UnruledOut]
    unruled_total: int
    words: str
