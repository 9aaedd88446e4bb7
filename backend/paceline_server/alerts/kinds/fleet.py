"""Raises alerts about a target in quarantine and about an agent that is silent for longer than its owner allows.

Targets and agents belong to the installation, so each project with a grant has an alert of its own.
"""

# ruff: noqa: ARG002 - the interface defines the arguments

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import ClassVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.kinds.standing import StandingFact, StandingKind, about_of
from paceline_server.alerts.rules.rule_book import BuiltInRule, RuleBook, RuleSubject
from paceline_server.fleet import service as fleet
from paceline_server.store.tables.alerts import Alert


class QuarantineKind(StandingKind):
    """A device that gets no job until a person releases it."""

    name: ClassVar[str] = "quarantine"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "quarantine/1"
    rule_kind: ClassVar[str] = name
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        name: BuiltInRule(
            "default-quarantine",
            "A target is in quarantine and gets no jobs until a person releases it.",
            has_effect=False,
        )
    }

    def projects(self, session: Session) -> Collection[str]:
        return fleet.projects_with_quarantine(session)

    def find_facts(
        self, session: Session, project_id: str, at: datetime, rules: RuleBook
    ) -> Iterator[StandingFact]:
        for target in fleet.quarantined_targets(session, project_id):
            since = target.health_since or target.created_at
            yield StandingFact(
                about=target.id,
                episode=since.isoformat(),
                title=f"{target.spoken_name} is in quarantine",
                words=target.health_reason or "it gave no reason",
                subject=RuleSubject("", "", "", "", target.name),
                target_id=target.id,
            )

    def explain_end(
        self, session: Session, alert: Alert, episode: str, at: datetime
    ) -> str | None:
        target = fleet.find_target(session, about_of(alert))
        if target.health != "quarantined":
            return f"it left quarantine; its health is {target.health}"
        is_granted = alert.project_id in fleet.projects_of_target(session, target.id)
        return None if is_granted else "the project has no grant of it any more"


class AgentSilentKind(StandingKind):
    """An agent that has sent no heartbeat for longer than its owner allows."""

    name: ClassVar[str] = "agent_silent"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "agent-silent/1"
    rule_kind: ClassVar[str] = name
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        name: BuiltInRule(
            "default-agent-silent",
            "An agent sends no heartbeat for longer than its owner allows.",
            has_effect=False,
        )
    }

    def projects(self, session: Session) -> Collection[str]:
        return fleet.projects_with_silence_limits(session)

    def find_facts(
        self, session: Session, project_id: str, at: datetime, rules: RuleBook
    ) -> Iterator[StandingFact]:
        for silent in fleet.silent_agents(session, project_id, at):
            agent, heard_at = silent.agent, silent.heard_at
            hours = silent.limit.total_seconds() / 3600
            yield StandingFact(
                about=agent.id,
                episode=heard_at.isoformat(),
                title=f"Agent {agent.name} is silent",
                words=f"no heartbeat since {heard_at:%Y-%m-%d %H:%M} UTC; {hours:.3g} h of silence are allowed",
                subject=RuleSubject("", "", "", "", agent.name),
            )

    def explain_end(
        self, session: Session, alert: Alert, episode: str, at: datetime
    ) -> str | None:
        heard_at = datetime.fromisoformat(episode)
        return fleet.why_not_silent(
            session, alert.project_id, about_of(alert), heard_at, at
        )

    def rule_subject(self, session: Session, alert: Alert) -> RuleSubject:
        """Return a subject with the agent's name as its target."""
        return RuleSubject("", "", "", "", queries.agent_name(session, about_of(alert)))

    def links(self, alert: Alert) -> list[tuple[str, str]]:
        return [("Agents", "/agents")]
