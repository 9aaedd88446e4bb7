"""Registers the kinds of alerts. Each file defines what one watches, how it is confirmed, its end, its sentences.

A new kind is registered here and nowhere else.
"""

from __future__ import annotations

from paceline_server.alerts.kinds.arm import ArmKind
from paceline_server.alerts.kinds.fleet import AgentSilentKind, QuarantineKind
from paceline_server.alerts.kinds.history import HistoryKind
from paceline_server.alerts.kinds.imports import ImportStoppedKind
from paceline_server.alerts.kinds.policy import PolicyKind
from paceline_server.alerts.kinds.run_end import GateKind, MissingKind, ScheduleKind
from paceline_server.alerts.kinds.schedules import ScheduleMissedKind

KINDS = (
    ArmKind(),
    HistoryKind(),
    PolicyKind(),
    GateKind(),
    MissingKind(),
    ScheduleKind(),
    ScheduleMissedKind(),
    QuarantineKind(),
    AgentSilentKind(),
    ImportStoppedKind(),
)
