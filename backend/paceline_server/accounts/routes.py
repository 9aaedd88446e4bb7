"""HTTP of accounts: sessions, accounts, tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from paceline_server.accounts import cookies, passwords, queries, service
from paceline_server.accounts.auth import ANYONE, Principal, require
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
from paceline_server.store.session import DbSession, session_scope
from paceline_server.store.tables.accounts import Account, Token

router = APIRouter(tags=["accounts"])

Reader = Annotated[Principal, Depends(require("read"))]
Admin = Annotated[Principal, Depends(require("admin"))]

SIGN_IN_BYTES = 16 * 1024
"""The longest address and password of `PasswordSignInIn` with every character escaped."""


@router.post("/session/link", max_body_size=SIGN_IN_BYTES, dependencies=[ANYONE])
def sign_in_by_link(
    body: LinkSignInIn, request: Request, response: Response, session: DbSession
) -> SessionOut:
    """Sign in with the one-time token of a sign-in link."""
    cookies.refuse_plain_http(request)
    cookies.refuse_other_sites(request, must_tell=False)
    new = service.sign_in_by_link(
        session, body.token, request.app.state.settings.session_days
    )
    cookies.set_session_cookie(request, response, new.secret, new.out.expires_at)
    return new.out


@router.post("/session", max_body_size=SIGN_IN_BYTES, dependencies=[ANYONE])
async def sign_in_by_password(
    body: PasswordSignInIn, request: Request, response: Response
) -> SessionOut:
    """Sign in with e-mail address and password; failures are throttled (429 `throttled`).

    The attempt is counted before the password is compared, so that concurrent guesses all count. Comparing holds
    neither a transaction nor a thread of other requests.
    """
    cookies.refuse_plain_http(request)
    cookies.refuse_other_sites(request, must_tell=False)
    keys = service.throttle_keys(
        body.email, request.client.host if request.client else "unknown"
    )
    with passwords.reserve_slot():
        account = await run_in_threadpool(_reserve, keys, body.email)
        is_right = await passwords.matches_in_thread(
            body.password, account.password_hash if account else None
        )
    days = request.app.state.settings.session_days
    new = await run_in_threadpool(
        _finish, account.account_id if account and is_right else None, keys, days
    )
    cookies.set_session_cookie(request, response, new.secret, new.out.expires_at)
    return new.out


def _reserve(keys: dict[str, str], email: str) -> service.AccountCredentials | None:
    with session_scope() as session:
        return service.reserve_attempt(session, keys, email)


def _finish(
    account_id: str | None, keys: dict[str, str], days: float
) -> service.NewSession:
    with session_scope() as session:
        return service.sign_in_by_password(session, account_id, keys, days)


@router.get("/session", dependencies=[ANYONE])
def current_session(request: Request, session: DbSession) -> SessionOut:
    """The current session. 401 without one."""
    secret = cookies.read_session_cookie(request)
    if secret is None:
        raise unauthenticated()
    return service.current_session(session, secret)


@router.delete("/session", status_code=204, dependencies=[ANYONE])
def sign_out(request: Request, response: Response, session: DbSession) -> None:
    """Sign out and close this session's streams."""
    secret = cookies.read_session_cookie(request)
    if secret is not None:
        cookies.refuse_other_sites(request, must_tell=True)
        service.end_session(session, secret)
        cookies.delete_session_cookie(request, response)


@router.get("/accounts")
def list_accounts(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[AccountOut]:
    """Everyone an alert can be assigned to, by id."""
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
    _: Admin, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[TokenOut]:
    """Tokens of programs, newest first, without their secrets."""
    return page(
        session,
        queries.tokens(),
        [Token.id],
        lambda row: [row.id],
        TokenOut.model_validate,
        limit=limit,
        cursor=cursor,
    )


@router.post("/tokens", status_code=201)
def create_token(
    body: TokenIn, principal: Admin, session: DbSession
) -> TokenCreatedOut:
    """Create a token; its secret is returned only here."""
    return service.create_token(session, principal, body)


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, principal: Admin, session: DbSession) -> None:
    """Revoke a token at once."""
    service.revoke_token(session, token_id, principal.name)
