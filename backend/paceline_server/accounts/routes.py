"""HTTP of accounts: sessions, accounts, tokens. No decisions, no SQL."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from paceline_server.accounts import cookies, passwords, queries, service
from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.schemas import (
    AccountOut,
    LinkSignInIn,
    PasswordSignInIn,
    SessionOut,
    TokenCreatedOut,
    TokenIn,
    TokenOut,
)
from paceline_server.kernel.errors import unauthenticated
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit, page
from paceline_server.store.session import DbSession, read_scope
from paceline_server.store.tables.accounts import Account, Token

router = APIRouter(tags=["accounts"])

Reader = Annotated[Principal, Depends(require("read"))]
Admin = Annotated[Principal, Depends(require("admin"))]


@router.post("/session/link")
def sign_in_by_link(
    body: LinkSignInIn, request: Request, response: Response, session: DbSession
) -> SessionOut:
    """Sign in with the one-time token of a sign-in link."""
    cookies.refuse_plain_http(request)
    cookies.refuse_other_sites(request, must_tell=False)
    new = service.sign_in_by_link(session, body.token, request.app.state.settings.session_days)
    cookies.give(request, response, new.secret, new.out.expires_at)
    return new.out


@router.post("/session")
def sign_in_by_password(
    body: PasswordSignInIn, request: Request, response: Response, session: DbSession
) -> SessionOut:
    """Sign in with e-mail address and password; failures are throttled (429 `throttled`)."""
    cookies.refuse_plain_http(request)
    cookies.refuse_other_sites(request, must_tell=False)
    keys = service.throttle_keys(body.email, request.client.host if request.client else "unknown")
    with read_scope() as reading:  # argon2 is slow: no write transaction is open meanwhile
        service.refuse_throttled(reading, keys)
        account = queries.account_by_email(reading, body.email)
    right = passwords.matches(body.password, account.password_hash if account else None)
    days = request.app.state.settings.session_days
    new = service.sign_in_by_password(session, account if right else None, keys, days)
    cookies.give(request, response, new.secret, new.out.expires_at)
    return new.out


@router.get("/session")
def current_session(request: Request, session: DbSession) -> SessionOut:
    """Who is signed in. 401 when nobody is."""
    secret = cookies.read(request)
    if secret is None:
        raise unauthenticated()
    return service.current_session(session, secret)


@router.delete("/session", status_code=204)
def sign_out(request: Request, response: Response, session: DbSession) -> None:
    """Sign out and close this session's streams."""
    secret = cookies.read(request)
    if secret is not None:
        cookies.refuse_other_sites(request, must_tell=True)
        service.end_session(session, secret)
        cookies.take_back(request, response)


@router.get("/accounts")
def list_accounts(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[AccountOut]:
    """Everyone an alert can be assigned to, by id."""
    return page(
        session, queries.accounts(), [Account.id], lambda row: [row.id], AccountOut.model_validate,
        limit=limit, cursor=cursor, descending=False,
    )  # fmt: skip


@router.get("/tokens")
def list_tokens(_: Admin, session: DbSession, limit: Limit = 50, cursor: Cursor = None) -> Page[TokenOut]:
    """Tokens of programs, newest first, without their secrets."""
    return page(
        session, queries.tokens(), [Token.id], lambda row: [row.id], TokenOut.model_validate,
        limit=limit, cursor=cursor,
    )  # fmt: skip


@router.post("/tokens", status_code=201)
def create_token(body: TokenIn, principal: Admin, session: DbSession) -> TokenCreatedOut:
    """Make a token; the secret is shown in this answer only."""
    return service.create_token(session, principal, body)


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, principal: Admin, session: DbSession) -> None:
    """Revoke a token at once."""
    service.revoke_token(session, token_id, principal.name)
