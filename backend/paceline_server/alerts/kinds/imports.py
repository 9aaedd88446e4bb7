"""Raises alerts about suites whose results are imported and no longer arrive.

How often an import must arrive is what a rule says; without one nothing is awaited. A suite is awaited from whichever
target: a name that a pipeline made for one import never comes again.
"""

# ruff: noqa: ARG002 - of the interface

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import ClassVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.kinds.standing import StandingFact, StandingKind, about_of
from paceline_server.alerts.rules.rule_book import (
    BuiltInRule,
    RuleBook,
    RuleSubject,
    rule_for,
)
from paceline_server.fleet import service as fleet
from paceline_server.store.tables.alerts import Alert


class ImportStoppedKind(StandingKind):
    """A suite of which no new result was imported for the period of its rule."""

    name: ClassVar[str] = "import_stopped"
    names: ClassVar[tuple[str, ...]] = (name,)
    method: ClassVar[str] = "import-stopped/1"
    rule_kind: ClassVar[str] = name
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        name: BuiltInRule(
            "default-import-stopped",
            "No new results of an imported suite arrive for the period of a rule. Without a rule nothing is awaited.",
            has_effect=False,
            asks_period=True,
            mode="off",
        )
    }

    def projects(self, session: Session) -> Collection[str]:
        return queries.projects_with_active_rules(session, self.name)

    def find_facts(
        self, session: Session, project_id: str, at: datetime, rules: RuleBook
    ) -> Iterator[StandingFact]:
        if not rules.rules:
            return
        uptime = fleet.read_uptime(session)
        for newest in queries.newest_imports(session):
            subject = _subject(newest.run.suite)
            hours = rules.rule_for(subject).period_hours
            waited = uptime.time_since(newest.run.created_at)
            if hours is None or waited <= timedelta(hours=hours):
                continue
            yield StandingFact(
                about=newest.run.suite,
                episode=newest.run.created_at.isoformat(),
                title=f"Results of {newest.run.suite} are no longer imported",
                words=f"the newest arrived at {newest.run.created_at:%Y-%m-%d %H:%M} UTC; "
                f"they are awaited every {hours:g} h",
                subject=subject,
                target_id=newest.target_id,
                run_id=newest.run.id,
            )

    def explain_end(
        self, session: Session, alert: Alert, episode: str, at: datetime
    ) -> str | None:
        suite, last_at = about_of(alert), datetime.fromisoformat(episode)
        newest = next(iter(queries.newest_imports(session, suite)), None)
        if newest is None:
            return "nothing is imported for the suite any more"
        if newest.run.created_at > last_at:
            return f"run {newest.run.id} was imported"
        rule = rule_for(session, self.name, _subject(suite))
        if rule.mode == "off" or rule.period_hours is None:
            return "no rule awaits it any more"
        if at - last_at <= timedelta(hours=rule.period_hours):
            return f"its rule awaits it every {rule.period_hours:g} h now"
        return None

    def rule_subject(self, session: Session, alert: Alert) -> RuleSubject:
        return _subject(alert.suite)


def _subject(suite: str) -> RuleSubject:
    return RuleSubject(suite, "", "", "", "")
