"""The shape of alerts about facts that are stored and stand until they end: no job shows them.

The sweeper asks what stands now. What it says depends on stored rows alone, so that a restart, a second sweeper or a
lost message changes nothing: an episode of a fact raises an alert once until it is over, and a fact that is over ends
it.

    stands ─▶ open, people told ─ over ─▶ fixed ─ stands again ─▶ open, people told
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explanation import finding_sentence
from paceline_server.alerts.kind import AlertEvidence, AlertKind, Observation, Watched
from paceline_server.alerts.rules.rule_book import (
    RuleBook,
    RuleSubject,
    default_rule,
    rules_in_force,
)
from paceline_server.alerts.schemas import AlertState
from paceline_server.alerts.states import Event
from paceline_server.detect.service import Role
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Finding

OVER = ""
"""The episode of an observation that a fact is over."""


@dataclass(frozen=True, kw_only=True)
class StandingFact:
    """A fact that stands now. `about` is the id of what it is about; `episode` tells its occurrences apart."""

    about: str
    episode: str
    title: str
    words: str
    subject: RuleSubject
    target_id: str | None = None
    run_id: str | None = None


class StandingKind(AlertKind[str]):
    """A kind of alert about a standing fact. The evidence of its observations is the episode."""

    name: ClassVar[str]
    method: ClassVar[str]
    rule_kind: ClassVar[str]
    """The kind of the rules that decide about it."""
    watches: ClassVar[Watched] = "clock"
    needs_run: ClassVar[bool] = False
    observes_again: ClassVar[bool] = False
    found_again: ClassVar[Mapping[AlertState, Event]] = {"fixed": Event.relapse}

    @abstractmethod
    def find_facts(
        self, session: Session, project_id: str, at: datetime, rules: RuleBook
    ) -> Iterable[StandingFact]:
        """Yield the facts that stand now in a project."""

    @abstractmethod
    def explain_end(
        self, session: Session, alert: Alert, episode: str, at: datetime
    ) -> str | None:
        """Return what ended the newest episode of a living alert; None if nothing did."""

    def observe_now(
        self, session: Session, project_id: str, at: datetime
    ) -> Iterator[Observation[str]]:
        rules = rules_in_force(session, self.rule_kind)
        facts = {
            self._cause_key(fact.about): fact
            for fact in self.find_facts(session, project_id, at, rules)
        }
        known = queries.known_episodes(session, facts)
        standing = set()
        for cause_key, fact in facts.items():
            rule = rules.rule_for(fact.subject)
            if rule.mode == "off":
                continue
            standing.add((cause_key, fact.episode))
            if fact.episode not in known.get(cause_key, ()):
                yield replace(self._observation(cause_key, fact), rule=rule)
        episodes = queries.newest_episodes(session, self.name)
        for alert in queries.living_of_kind(session, self.name):
            episode = episodes.get(alert.id, OVER)
            if (alert.cause_key, episode) in standing:
                continue  # What stands is not over, so a sweep asks nothing about each alert.
            words = self.explain_end(session, alert, episode, at)
            if words is not None:
                yield self._ending(alert, words)

    def _cause_key(self, about: str) -> str:
        return json.dumps([self.name, about], separators=(",", ":"))

    def _observation(self, cause_key: str, fact: StandingFact) -> Observation[str]:
        return Observation(
            kind=self.name,
            cause_key=cause_key,
            outcome="fails",
            title=fact.title,
            words=fact.words,
            rule=default_rule(self.rule_kind),
            evidence=fact.episode,
            run_id=fact.run_id,
            job_id=None,
            target_id=fact.target_id,
            suite=fact.subject.suite,
        )

    def _ending(self, alert: Alert, words: str) -> Observation[str]:
        return Observation(
            kind=self.name,
            cause_key=alert.cause_key,
            outcome="holds",
            title=alert.title,
            words=words,
            rule=default_rule(self.rule_kind),
            evidence=OVER,
            run_id=None,
            job_id=None,
            target_id=alert.target_id,
            suite=alert.suite,
        )

    def find_alert(self, session: Session, seen: Observation[str]) -> Alert | None:
        """Return the living alert of the cause, or the fixed one that this episode revives."""
        living = queries.lock_living_alert(session, seen.cause_key)
        if living is not None or seen.outcome == "holds":
            return living
        newest = queries.newest_of_cause(session, seen.cause_key)
        if newest is None or newest.state != "fixed":
            return None
        return newest if newest.shadow is seen.rule.shadow else None

    def join(self, alert: Alert, seen: Observation[str]) -> None:
        rule = seen.rule
        alert.title, alert.words, alert.run_id = seen.title, seen.words, seen.run_id
        alert.rule_id, alert.rule_version = rule.rule_id, rule.version
        alert.rule = rule.as_evidence()

    def store_findings(
        self, session: Session, alert: Alert, seen: Observation[str], role: Role
    ) -> None:
        session.add(
            Finding(
                id=ids.new_id("fnd"),
                kind=self.name,
                role=role,
                alert_id=alert.id,
                comparison_id=None,
                series_id=None,
                change_id=None,
                numbers={
                    "words": seen.words,
                    "where": seen.title,
                    "episode": seen.evidence,
                },
                run_id=None,
                job_id=None,
                method=self.method,
                parameters={},
                filters=[],
                window={"text": "what the server had stored"},
                created_at=clock.now(),
            )
        )
        session.flush()

    def explain(self, evidence: AlertEvidence) -> str:
        alert, candidates = evidence.alert, evidence.with_role("candidate")
        words = finding_sentence(candidates[-1]) if candidates else alert.words
        rule = f"Rule {alert.rule['name']}: {alert.rule['text']}"
        return " ".join([f"{alert.title}: {words}.", rule, *evidence.closing_sentences])


def about_of(alert: Alert) -> str:
    """Return the id of what an alert is about."""
    return str(json.loads(alert.cause_key)[1])
