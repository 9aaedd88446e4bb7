"""Makes requests that create something safe to repeat: `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).

The answer is stored in the transaction that creates, per principal and project, so that a request is carried out once
however often it is sent. Every route that creates something takes a `Once`; a test holds that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request, Response
from sqlalchemy.orm import Session

from paceline_server.accounts.principal import Principal
from paceline_server.kernel import clock, wire
from paceline_server.kernel.errors import ProblemError, conflict, invalid_request
from paceline_server.store import stored_answers
from paceline_server.store.stored_answers import RequestKey

REPLAYED = "Idempotency-Replayed"
"""Response header that marks a stored answer."""
Answer = TypeVar("Answer", bound=wire.Response)


@dataclass(frozen=True)
class IdempotentAnswer:
    """Carries out a request once per key; without a key, every time."""

    key: RequestKey | None
    response: Response

    def answer(
        self, session: Session, form: type[Answer], create: Callable[[], Answer]
    ) -> Answer:
        """Return the key's stored answer; if there is none, store and return that of `create`.

        Raises 422 `idempotency_key_reused` if the key was sent with another request.
        """
        if self.key is None:
            return create()
        stored = stored_answers.claim(session, self.key, clock.now())
        if stored is None:
            answer = create()
            body = answer.model_dump(mode="json", by_alias=True)
            stored_answers.store_answer(
                session, self.key, self.response.status_code, body
            )
            return answer
        self._check(stored.request_sha256)
        if stored.answer is None:
            raise _shown_once()
        if stored.status is not None:
            self.response.status_code = stored.status
        self.response.headers[REPLAYED] = "true"
        return form.model_validate(stored.answer)

    def answer_secret(self, session: Session, create: Callable[[], Answer]) -> Answer:
        """Return the answer of `create`, which holds a secret and is not stored. Raises 409 `created_before` for a
        repeated request."""
        if self.key is None:
            return create()
        stored = stored_answers.claim(session, self.key, clock.now())
        if stored is None:
            return create()
        self._check(stored.request_sha256)
        raise _shown_once()

    def _check(self, request_sha256: str) -> None:
        if self.key is not None and request_sha256 != self.key.request_sha256:
            raise ProblemError(
                422,
                "idempotency_key_reused",
                "This Idempotency-Key stood for another request. Send a new key with every new request.",
            )


def _shown_once() -> ProblemError:
    return conflict(
        "A request with this Idempotency-Key has made it already, and its secret is shown only once. If it was lost, "
        "revoke it and make another.",
        "created_before",
    )


async def read_key(
    request: Request,
    response: Response,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            description="Makes the request safe to send again: it is carried out once per key.",
        ),
    ] = None,
) -> IdempotentAnswer:
    """Return how to answer a request, with its key if it has one."""
    if key is None:
        return IdempotentAnswer(None, response)
    if not (key.isascii() and key.isprintable()):
        raise invalid_request(
            "Idempotency-Key: expected printable ASCII characters, such as a UUID.",
            {"Idempotency-Key": "not printable ASCII"},
        )
    principal: Principal = request.state.principal
    if principal.project is None:
        raise invalid_request(
            "Idempotency-Key: name the project too, with ?project=NAME."
        )
    digest = hashlib.sha256(
        b"\0".join(
            (
                request.method.encode(),
                str(request.url.path).encode(),
                request.url.query.encode(),
                await request.body(),
            )
        )
    ).hexdigest()
    actor = principal.actor
    return IdempotentAnswer(
        RequestKey(principal.project.id, f"{actor.kind}:{actor.id}", key, digest),
        response,
    )


Once = Annotated[IdempotentAnswer, Depends(read_key)]
"""The parameter with which a route that creates something answers a repeated request as before."""
