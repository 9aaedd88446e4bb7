"""Serves what other programs read over HTTP: verdicts as documents, badges, the feed of alerts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from paceline_contract.outputs import MEDIA_TYPES

from paceline_server.accounts.auth import Principal, require
from paceline_server.alerts.registry import AlertKindName
from paceline_server.alerts.schemas import AlertState
from paceline_server.kernel import settings
from paceline_server.publish import badges, feed, service
from paceline_server.publish.badges import BadgeKind, BadgeOut
from paceline_server.publish.commit_verdicts import (
    CommitVerdictsOut,
    commit_verdicts,
)
from paceline_server.publish.conditional import answer
from paceline_server.publish.queries import FeedFilters, Subject
from paceline_server.publish.schemas import DocumentFormat, VerdictsOut
from paceline_server.store.session import DbSession

router = APIRouter(tags=["publish"])

Reader = Annotated[Principal, Depends(require("project.read"))]


@router.get(
    "/runs/{run_id}/verdicts",
    response_model=None,
    responses={
        200: {
            "model": VerdictsOut,
            "content": {
                "application/xml": {"schema": {"type": "string"}},
                "text/markdown": {"schema": {"type": "string"}},
            },
        }
    },
)
def get_verdicts(
    run_id: str,
    _: Reader,
    session: DbSession,
    wanted: Annotated[DocumentFormat, Query(alias="format")] = "json",
) -> Response:
    """Return the verdicts of a run as one document in JSON, JUnit XML or Markdown, the worst first. For a run that is
    still measuring, it has what is known so far."""
    text = service.render_run(session, run_id, wanted)
    return Response(text, media_type=MEDIA_TYPES[wanted])


Name = Annotated[str, Query(min_length=1, max_length=200)]
OptionalName = Annotated[str | None, Query(min_length=1, max_length=200)]
Commit = Annotated[str, Query(pattern="^[0-9a-f]{7,64}$")]


@router.get("/verdicts")
def get_commit_verdicts(
    commit: Commit, _: Reader, session: DbSession, suite: OptionalName = None
) -> CommitVerdictsOut:
    """Return the verdicts of a commit (given by its whole hash), of one suite or all, for systems that poll."""
    return commit_verdicts(session, commit, suite)


@router.get("/badge", response_model=None, responses={200: {"model": BadgeOut}})
def get_badge(  # noqa: PLR0917 - query parameters, passed by name
    suite: Name,
    _: Reader,
    session: DbSession,
    request: Request,
    kind: BadgeKind = "verdict",
    branch: OptionalName = None,
    target: OptionalName = None,
) -> Response:
    """Return the badge of a suite as shields.io's endpoint reads it; `target` is a name. Anybody may read it in a
    public project, with `project=NAME`."""
    badge_out = badges.make_badge(session, kind, Subject(suite, branch, target))
    text = badge_out.model_dump_json()
    return answer(request, text, lambda: text, "application/json", badges.CACHE_S)


@router.get(
    "/badge.svg",
    response_model=None,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
)
def get_badge_picture(  # noqa: PLR0917 - query parameters, passed by name
    suite: Name,
    _: Reader,
    session: DbSession,
    request: Request,
    kind: BadgeKind = "verdict",
    branch: OptionalName = None,
    target: OptionalName = None,
) -> Response:
    """Return the badge of a suite as SVG; the parameters are those of `/badge`."""
    badge_out = badges.make_badge(session, kind, Subject(suite, branch, target))
    return answer(
        request,
        badge_out.model_dump_json(),
        lambda: badges.render_svg(badge_out),
        "image/svg+xml",
        badges.CACHE_S,
    )


@router.get(
    "/alerts.atom",
    response_model=None,
    responses={
        200: {"content": {"application/atom+xml": {"schema": {"type": "string"}}}}
    },
)
def get_alert_feed(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    request: Request,
    suite: OptionalName = None,
    target: OptionalName = None,
    state: AlertState | None = None,
    kind: AlertKindName | None = None,
) -> Response:
    """Return the alerts that changed last as an Atom feed; `target` is a name. Alerts that nobody was notified of are
    not in it."""
    filters = FeedFilters(suite, target, state, kind)
    base = settings.current().public_url or str(request.base_url).rstrip("/")
    alert_feed = feed.AlertFeed.read(session, filters, base)
    return answer(
        request,
        alert_feed.state,
        alert_feed.render,
        "application/atom+xml",
        feed.CACHE_S,
    )
