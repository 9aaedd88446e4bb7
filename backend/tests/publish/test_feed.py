"""What programs poll: the feed of alerts, badges, the verdicts of a commit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
import xmlschema
from fastapi.testclient import TestClient
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.clock import FrozenClock
from paceline_server.publish.badges import BadgeOut, render_svg
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.projects import Project
from paceline_server.testing.delivered_jobs import Lab, open_lab
from sqlalchemy import update

PREFIX = "/api/v1"
FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.126, 2000: -0.6}
NASTY = '</title><script>alert("x")</script> | `a` \u202e 😀 \x07'
COOLDOWN_S = 30.0
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture
def lab(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> Lab:
    process_settings.set_current(
        process_settings.current().model_copy(
            update={"confirm_cooldown_s": COOLDOWN_S, "lease_s": 1e6}
        )
    )
    return open_lab(client, enrolled, token)


def get(lab: Lab, path: str, known: dict[str, str] | None = None, **query: Any) -> Any:
    sent = {**dict(lab.headers), **(known or {})}
    return lab.client.get(f"{PREFIX}{path}", params=query, headers=sent)


def open_alert(lab: Lab, clock: FrozenClock) -> dict[str, Any]:
    lab.measure(SLOWER, seed=1)
    clock.advance(COOLDOWN_S)
    outbox.drain()
    lab.deliver(SLOWER, seed=2)
    outbox.drain()
    [alert] = get(lab, "/alerts").json()["items"]
    assert alert["state"] == "open"
    return dict(alert)


def read_feed(text: str) -> Element:
    """The feed, valid by the rules of the RFC."""
    xmlschema.XMLSchema11(Path(__file__).with_name("atom.xsd")).validate(text)
    return ElementTree.fromstring(text)  # noqa: S314 - our own


def entries(feed: Element) -> list[Element]:
    return feed.findall("a:entry", ATOM)


def said(element: Element, name: str) -> str:
    """The text of a child that must be there."""
    return str(element.findtext(f"a:{name}", namespaces=ATOM))


@pytest.mark.shapes("embedded", "scaled")
def test_the_feed_has_what_people_were_told_and_says_when_it_changes(
    lab: Lab, clock: FrozenClock
) -> None:
    lab.measure(SLOWER, seed=1)
    empty = read_feed(get(lab, "/alerts.atom").text)
    assert entries(empty) == []  # suspected only: nobody was told
    clock.advance(COOLDOWN_S)
    outbox.drain()
    lab.deliver(SLOWER, seed=2)
    outbox.drain()
    [alert] = get(lab, "/alerts").json()["items"]
    feed = read_feed(get(lab, "/alerts.atom").text)
    [entry] = entries(feed)
    assert said(entry, "id") == f"urn:paceline:alert:{alert['id']}"
    assert said(entry, "title") == f"{alert['title']} (open)"
    assert said(entry, "summary") == alert["words"]
    detail = get(lab, f"/alerts/{alert['id']}").json()
    assert said(entry, "content") == detail["explanation"]
    link = entry.find("a:link", ATOM)
    assert link is not None
    assert str(link.get("href")).endswith(f"/alerts/{alert['id']}")
    clock.advance(60)
    lab.measure(FASTER, seed=3)
    later = read_feed(get(lab, "/alerts.atom").text)
    [fixed] = entries(later)
    assert (said(fixed, "id"), said(fixed, "title")) == (
        said(entry, "id"),
        f"{alert['title']} (fixed)",
    )
    assert said(fixed, "published") == said(entry, "published")
    assert said(fixed, "updated") > said(entry, "updated")
    assert said(later, "id") == said(feed, "id") == said(empty, "id")
    assert said(later, "updated") == said(fixed, "updated")


def test_no_name_of_an_alert_leaves_its_element_of_the_feed(
    lab: Lab, clock: FrozenClock
) -> None:
    open_alert(lab, clock)
    with session_scope() as session:
        session.execute(update(Alert).values(title=NASTY, words=NASTY))
        session.execute(update(Target).values(name=NASTY))
    [entry] = entries(read_feed(get(lab, "/alerts.atom").text))
    readable = NASTY.replace("\x07", "\ufffd")
    assert said(entry, "title") == f"{readable} (open)"
    assert said(entry, "summary") == readable
    terms = [item.get("term") for item in entry.findall("a:category", ATOM)]
    assert readable in terms


def test_a_filtered_feed_is_a_feed_of_its_own(lab: Lab, clock: FrozenClock) -> None:
    open_alert(lab, clock)
    everything = read_feed(get(lab, "/alerts.atom").text)
    ids = {said(everything, "id")}
    for query, count in (
        ({"suite": "sorting"}, 1),
        ({"suite": "hashing"}, 0),
        ({"target": "lab-1", "state": "open"}, 1),
        ({"state": "fixed"}, 0),
        ({"target": NASTY.replace("\x07", "")}, 0),
    ):
        feed = read_feed(get(lab, "/alerts.atom", None, **query).text)
        assert len(entries(feed)) == count
        ids.add(said(feed, "id"))
    assert len(ids) == 6


def test_who_polls_hears_only_of_changes(lab: Lab, clock: FrozenClock) -> None:
    open_alert(lab, clock)
    for path, query in (
        ("/alerts.atom", {}),
        ("/badge", {"suite": "sorting"}),
        ("/badge.svg", {"suite": "sorting", "kind": "alerts"}),
    ):
        first = get(lab, path, None, **query)
        known = {"If-None-Match": first.headers["etag"]}
        again = get(lab, path, known, **query)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert first.headers["cache-control"] == "private, max-age=60"
    known = {"If-None-Match": get(lab, "/alerts.atom").headers["etag"]}
    clock.advance(1)
    lab.measure(FASTER, seed=3)
    assert get(lab, "/alerts.atom", known).status_code == 200


@pytest.mark.shapes("embedded", "scaled")
def test_a_badge_says_the_newest_verdict_in_the_words_of_the_api(
    lab: Lab, clock: FrozenClock
) -> None:
    def badge(**query: Any) -> tuple[str, str]:
        found = get(lab, "/badge", suite="sorting", **query).json()
        assert found["schemaVersion"] == 1
        return found["message"], found["color"]

    assert badge()[0] == "no runs"
    assert badge(kind="alerts")[0] == "none"
    lab.measure(FASTER, seed=1)
    passed = badge()
    assert passed[0] == "pass"
    clock.advance(1)
    alert = open_alert(lab, clock)
    failed = badge()
    assert failed[0] == "fail"
    assert failed[1] != passed[1]
    assert badge(kind="alerts")[0] == "1 open"
    verdicts = get(lab, f"/runs/{alert['run_id']}/verdicts").json()
    words = {item["words"] for job in verdicts["jobs"] for item in job["comparisons"]}
    assert badge(kind="ratio")[0] in words
    assert badge(target="lab-1")[0] == "fail"
    assert badge(target="lab-9")[0] == "no runs"
    assert badge(branch="release")[0] == "no runs"


def test_a_badge_is_a_picture_that_is_read_aloud_and_runs_nothing() -> None:
    svg = render_svg(BadgeOut(label=NASTY[:-2], message="fail", color="#c92a2a"))
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own
    assert root.get("role") == "img"
    assert str(root.get("aria-label")).endswith(": fail")
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names == {"svg", "title", "clipPath", "rect", "g", "text"}


def test_anybody_reads_what_a_public_project_publishes_and_caches_may_keep_it(
    lab: Lab,
) -> None:
    paths = {
        "/badge": {"suite": "sorting"},
        "/badge.svg": {"suite": "sorting"},
        "/alerts.atom": {},
        "/verdicts": {"commit": "0" * 40},
    }

    def statuses() -> set[int]:
        return {
            lab.client.get(
                f"{PREFIX}{path}", params={**query, "project": "default"}
            ).status_code
            for path, query in paths.items()
        }

    assert statuses() == {401}
    with session_scope() as session:
        session.get_one(Project, "prj_default").visibility = "public"
    assert statuses() == {200}
    badge = lab.client.get(
        f"{PREFIX}/badge.svg", params={"suite": "x", "project": "default"}
    )
    assert badge.headers["cache-control"] == "public, max-age=60"
    assert badge.headers["content-type"] == "image/svg+xml"


@pytest.mark.shapes("embedded", "scaled")
def test_what_is_known_about_a_commit_is_asked_for_by_its_hash(lab: Lab) -> None:
    first = lab.measure(SLOWER, seed=1)
    [run] = get(lab, "/runs").json()["items"]
    commit = run["commit"]
    found = get(lab, "/verdicts", commit=commit, suite="sorting").json()
    assert (found["commit"], found["outcome"]) == (commit, "fail")
    assert [row["run_id"] for row in found["runs"]] == [first.run_id]
    assert found["runs"][0]["reason"] == run["reason"]
    lab.request()
    measuring = get(lab, "/verdicts", commit=commit).json()
    assert measuring["outcome"] == "queued"
    assert [row["outcome"] for row in measuring["runs"]] == ["queued", "fail"]
    for query in ({"commit": commit, "suite": "hashing"}, {"commit": "0" * 40}):
        nothing = get(lab, "/verdicts", **query).json()
        assert (nothing["outcome"], nothing["runs"]) == (None, [])
    assert get(lab, "/verdicts", commit="main").status_code == 422
