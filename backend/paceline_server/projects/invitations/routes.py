"""Serves invitations over HTTP: admins of a project make and revoke them; the person with the link accepts one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from paceline_server.accounts import cookies, passwords
from paceline_server.accounts.auth import ANYONE, Principal, account_of, require
from paceline_server.accounts.idempotency import Once
from paceline_server.accounts.schemas import SessionOut
from paceline_server.accounts.sessions import NewSession, Visitor
from paceline_server.kernel.errors import forbidden
from paceline_server.kernel.wire import Page
from paceline_server.projects.invitations import service
from paceline_server.projects.invitations.schemas import (
    InvitationAcceptIn,
    InvitationCreatedOut,
    InvitationIn,
    InvitationLinkIn,
    InvitationOfferOut,
    InvitationOut,
    JoinedOut,
)
from paceline_server.store import access
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession, SystemSession, session_scope

router = APIRouter(tags=["projects"])

SignedIn = Annotated[Principal, Depends(require())]
MembersWriter = Annotated[Principal, Depends(require("members.write"))]

ACCEPT_BYTES = 24 * 1024
"""Enough for the longest address, name and password of `InvitationAcceptIn` with every character escaped."""


@router.get("/invitations")
def list_invitations(
    _: MembersWriter, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[InvitationOut]:
    """List invitations to the project, the newest first, without their links."""
    return service.list_invitations(session, limit=limit, cursor=cursor)


@router.post("/invitations", status_code=201)
def create_invitation(
    body: InvitationIn,
    who: MembersWriter,
    request: Request,
    session: SystemSession,
    once: Once,
) -> InvitationCreatedOut:
    """Invite the holder of an e-mail address; the link is returned only here. It replaces an earlier invitation."""
    if who.project is None:
        raise forbidden("Choose a project with ?project=NAME.", "no_project")
    inviter = service.Inviter(
        who.name,
        cookies.public_url(request),
        request.app.state.settings.invitation_days,
    )
    project_id = who.project.id
    with access.within_project(session, project_id):
        return once.answer_secret(
            session,
            lambda: service.invite(session, project_id, body.email, body.role, inviter),
        )


@router.delete("/invitations/{invitation_id}", status_code=204)
def revoke_invitation(
    invitation_id: str, who: MembersWriter, session: DbSession
) -> None:
    """Revoke an invitation; its link stops working."""
    service.revoke(session, invitation_id, who.name)


@router.post("/session/invitation/offer", dependencies=[ANYONE])
def show_invitation(
    body: InvitationLinkIn, request: Request, session: SystemSession
) -> InvitationOfferOut:
    """Return the project and role that an invitation's link offers. 410 `invitation_invalid` if it was used, was
    revoked or has expired."""
    cookies.check_visitor(request)
    return service.show_offer(session, body.token)


@router.post("/session/invitation", max_body_size=ACCEPT_BYTES, dependencies=[ANYONE])
async def accept_with_new_account(
    body: InvitationAcceptIn, request: Request, response: Response
) -> SessionOut:
    """Accept an invitation with a new account, and sign in. 403 `other_address` unless it was sent to `email`."""
    visitor = cookies.check_visitor(request)
    with passwords.reserve_slot():
        personal_words = await run_in_threadpool(_reserve_acceptance, body)
        new_hash = await passwords.make_hash_in_thread(body.password, personal_words)
    days = request.app.state.settings.session_days
    new_session = await run_in_threadpool(_accept, body, new_hash, days, visitor)
    return cookies.answer_with_session(request, response, new_session)


def _reserve_acceptance(body: InvitationAcceptIn) -> tuple[str, str]:
    with access.as_system(), session_scope() as session:
        return service.reserve_acceptance(session, body)


def _accept(
    body: InvitationAcceptIn, password_hash: str, days: float, visitor: Visitor
) -> NewSession:
    with access.as_system(), session_scope() as session:
        return service.accept_with_new_account(
            session, body, password_hash, days, visitor
        )


@router.post("/account/invitations")
def accept_invitation(
    body: InvitationLinkIn, who: SignedIn, session: SystemSession
) -> JoinedOut:
    """Accept an invitation with your account. 403 `other_address` unless it was sent to your address."""
    return service.accept(session, body.token, account_of(who))
