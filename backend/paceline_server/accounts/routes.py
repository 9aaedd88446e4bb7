"""Serves accounts over HTTP: signing in, one's own sessions and password, accounts of the installation, tokens.

Routes that manage accounts of the installation or sign somebody in belong to no project: their database sessions see
every project.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from paceline_server.accounts import (
    administration,
    cookies,
    credentials,
    passwords,
    queries,
    service,
    sessions,
    throttling,
)
from paceline_server.accounts.auth import ANYONE, Principal, account_of, require
from paceline_server.accounts.idempotency import Once
from paceline_server.accounts.schemas import (
    AccountOut,
    BrowserSessionOut,
    InstallationAccountOut,
    InstallationAdminIn,
    LinkSignInIn,
    OneTimeLinkOut,
    PasswordChangeIn,
    PasswordResetIn,
    PasswordSignInIn,
    SessionOut,
    TokenCreatedOut,
    TokenIn,
    TokenOut,
)
from paceline_server.accounts.sessions import NewSession, Visitor
from paceline_server.kernel.errors import forbidden, unauthenticated
from paceline_server.kernel.wire import Page
from paceline_server.store import access
from paceline_server.store.page import Cursor, Limit, page
from paceline_server.store.session import (
    DbSession,
    SystemSession,
    read_scope,
    session_scope,
)
from paceline_server.store.tables.accounts import Account

router = APIRouter(tags=["accounts"])

SignedIn = Annotated[Principal, Depends(require())]
MembersReader = Annotated[Principal, Depends(require("members.read"))]
TokensWriter = Annotated[Principal, Depends(require("tokens.write"))]
Admin = Annotated[Principal, Depends(require("installation.admin"))]

ProjectName = Annotated[str | None, Query(max_length=100)]
SearchText = Annotated[str | None, Query(max_length=100)]

SIGN_IN_BYTES = 16 * 1024
"""Enough for the longest address and password of `PasswordSignInIn` with every character escaped."""


@router.post("/session/link", max_body_size=SIGN_IN_BYTES, dependencies=[ANYONE])
def sign_in_by_link(
    body: LinkSignInIn, request: Request, response: Response, session: SystemSession
) -> SessionOut:
    """Sign in with the one-time token of a sign-in link."""
    visitor = cookies.check_visitor(request)
    new = service.sign_in_by_link(session, body.token, _days(request), visitor)
    return cookies.answer_with_session(request, response, new)


@router.post("/session", max_body_size=SIGN_IN_BYTES, dependencies=[ANYONE])
async def sign_in_by_password(
    body: PasswordSignInIn, request: Request, response: Response
) -> SessionOut:
    """Sign in with e-mail address and password; failures are throttled (429 `throttled`).

    The attempt is counted before the password is compared, so that concurrent guesses all count. Comparing holds
    neither a transaction nor a thread of other requests.
    """
    visitor = cookies.check_visitor(request)
    keys = throttling.sign_in_keys(body.email, visitor.place)
    with passwords.reserve_slot():
        account = await run_in_threadpool(_reserve, keys, body.email)
        is_right = await passwords.matches_in_thread(
            body.password, account.password_hash if account else None
        )
    account_id = account.account_id if account and is_right else None
    new = await run_in_threadpool(_finish, account_id, keys, _days(request), visitor)
    return cookies.answer_with_session(request, response, new)


def _reserve(keys: dict[str, str], email: str) -> service.AccountCredentials | None:
    with access.as_system(), session_scope() as session:
        return service.reserve_attempt(session, keys, email)


def _finish(
    account_id: str | None, keys: dict[str, str], days: float, visitor: Visitor
) -> NewSession:
    with access.as_system(), session_scope() as session:
        return service.sign_in_by_password(session, account_id, keys, days, visitor)


@router.post("/session/reset", max_body_size=SIGN_IN_BYTES, dependencies=[ANYONE])
async def reset_password(
    body: PasswordResetIn, request: Request, response: Response
) -> SessionOut:
    """Set a new password with the one-time token of a reset link, and sign in. All other sessions end."""
    visitor = cookies.check_visitor(request)
    with passwords.reserve_slot():
        owner = await run_in_threadpool(_owner_of_reset_link, body.token)
        words = credentials.guessable_words(owner)
        new_hash = await passwords.make_hash_in_thread(body.password, words)
    new = await run_in_threadpool(_reset, body.token, new_hash, _days(request), visitor)
    return cookies.answer_with_session(request, response, new)


def _owner_of_reset_link(secret: str) -> Account:
    with access.as_system(), read_scope() as session:
        return credentials.owner_of_reset_link(session, secret)


def _reset(
    secret: str, password_hash: str, days: float, visitor: Visitor
) -> NewSession:
    with access.as_system(), session_scope() as session:
        return credentials.reset_password(session, secret, password_hash, days, visitor)


@router.get("/session", dependencies=[ANYONE])
def current_session(
    request: Request, session: SystemSession, project: ProjectName = None
) -> SessionOut:
    """Return the current session. 401 without one, 404 for a project that its person may not see."""
    secret = cookies.read_session_cookie(request)
    if secret is None:
        raise unauthenticated()
    return sessions.current_session(session, secret, project)


@router.delete("/session", status_code=204, dependencies=[ANYONE])
def sign_out(request: Request, response: Response, session: SystemSession) -> None:
    """Sign out and close this session's streams."""
    secret = cookies.read_session_cookie(request)
    if secret is not None:
        cookies.refuse_other_sites(request, require_origin=True)
        sessions.end_session(session, secret)
        cookies.delete_session_cookie(request, response)


@router.get("/account/sessions")
def list_sessions(
    who: SignedIn, session: SystemSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[BrowserSessionOut]:
    """List your sessions, one per browser, the newest first."""
    account_id = account_of(who)
    return sessions.list_sessions(
        session, account_id, who.session_id, limit=limit, cursor=cursor
    )


@router.delete("/account/sessions", status_code=204)
def end_other_sessions(who: SignedIn, session: SystemSession) -> None:
    """Sign out everywhere but here."""
    account = administration.find_account(session, account_of(who))
    sessions.end_all_sessions(session, account, who.name, but=who.session_id)


@router.delete("/account/sessions/{session_id}", status_code=204)
def end_session(session_id: str, who: SignedIn, session: SystemSession) -> None:
    """End one of your sessions at once."""
    account = administration.find_account(session, account_of(who))
    sessions.end_session_of(session, account, session_id)


@router.put("/account/password", max_body_size=SIGN_IN_BYTES)
async def change_password(
    body: PasswordChangeIn, who: SignedIn, request: Request, response: Response
) -> SessionOut:
    """Set your password; `current` proves that it is you if you have one. All your other sessions end.

    Failures are throttled (429 `throttled`). 403 `wrong_password`; 400 `weak_password`.
    """
    account_id, visitor = account_of(who), cookies.check_visitor(request)
    with passwords.reserve_slot():
        owner = await run_in_threadpool(_reserve_check, account_id)
        words = credentials.guessable_words(owner)
        if owner.password_hash is not None and not await passwords.matches_in_thread(
            body.current or "", owner.password_hash
        ):
            raise forbidden("The present password is wrong.", "wrong_password")
        new_hash = await passwords.make_hash_in_thread(body.password, words)
    new = await run_in_threadpool(
        _change_password, account_id, new_hash, _days(request), visitor
    )
    return cookies.answer_with_session(request, response, new)


def _reserve_check(account_id: str) -> Account:
    with access.as_system(), session_scope() as session:
        return credentials.count_password_check(session, account_id)


def _change_password(
    account_id: str, password_hash: str, days: float, visitor: Visitor
) -> NewSession:
    with access.as_system(), session_scope() as session:
        return credentials.change_password(
            session, account_id, password_hash, days, visitor
        )


@router.get("/installation/accounts")
def list_installation_accounts(
    _: Admin,
    session: SystemSession,
    q: SearchText = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[InstallationAccountOut]:
    """List all accounts by name; with `q`, those whose name or address contains it."""
    return administration.list_accounts(session, q, limit=limit, cursor=cursor)


@router.post("/accounts/{account_id}/disable", status_code=204)
def disable_account(account_id: str, who: Admin, session: SystemSession) -> None:
    """Disable an account: its sessions end and its tokens stop working at once."""
    administration.disable_account(session, account_id, who.name)


@router.post("/accounts/{account_id}/enable", status_code=204)
def enable_account(account_id: str, who: Admin, session: SystemSession) -> None:
    """Let a disabled account sign in again."""
    administration.enable_account(session, account_id, who.name)


@router.put("/accounts/{account_id}/installation-admin")
def set_installation_admin(
    account_id: str, body: InstallationAdminIn, who: Admin, session: SystemSession
) -> InstallationAccountOut:
    """Give an account the role of an installation admin, or take it away. 403 `own_role` for your own account."""
    return administration.set_installation_admin(
        session, account_id, body.is_installation_admin, who.name, who.account_id
    )


@router.post("/accounts/{account_id}/reset-link", status_code=201)
def create_reset_link(
    account_id: str, who: Admin, request: Request, session: SystemSession, once: Once
) -> OneTimeLinkOut:
    """Create a link with which a person sets a new password; hand it to them."""
    minutes = request.app.state.settings.sign_in_link_minutes
    return once.answer_secret(
        session,
        lambda: administration.create_reset_link(
            session, account_id, minutes, cookies.public_url(request), who.name
        ),
    )


@router.delete("/accounts/{account_id}/sessions", status_code=204)
def sign_out_account(account_id: str, who: Admin, session: SystemSession) -> None:
    """End all sessions of an account at once; its tokens keep working."""
    administration.sign_out(session, account_id, who.name)


@router.get("/accounts")
def list_accounts(
    _: MembersReader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[AccountOut]:
    """List the accounts that an alert can be assigned to, by id."""
    return page(
        session,
        queries.accounts(),
        [Account.id],
        lambda row: [row.id],
        AccountOut.model_validate,
        limit=limit,
        cursor=cursor,
        descending=False,
    )


@router.get("/tokens")
def list_tokens(
    _: TokensWriter, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[TokenOut]:
    """List tokens of programs, newest first, without their secrets."""
    return service.list_tokens(session, limit=limit, cursor=cursor)


@router.post("/tokens", status_code=201)
def create_token(
    body: TokenIn, principal: TokensWriter, session: DbSession, once: Once
) -> TokenCreatedOut:
    """Create a token; its secret is returned only here."""
    return once.answer_secret(
        session, lambda: service.create_token(session, principal, body)
    )


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, principal: TokensWriter, session: DbSession) -> None:
    """Revoke a token at once."""
    service.revoke_token(session, token_id, principal.name)


def _days(request: Request) -> float:
    days: float = request.app.state.settings.session_days
    return days
