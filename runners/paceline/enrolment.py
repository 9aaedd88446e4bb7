"""Exchanges a one-time code for the agent's credential, stores it, and replaces it when the server asks.

Only the file's owner can read it, from its first byte on. A code is used only if the agent has no credential for
that server.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import msgspec

from paceline.api import ApiClient, ApiError, UnreachableError
from paceline.credentials import check_address, check_credential
from paceline.errors import UserError

log = logging.getLogger("paceline.agent")

NOT_ACCEPTED = (401, 403)
"""Statuses that waiting does not change: the credential is unknown, revoked or not an agent's."""
NO_OTHER_START = 77
"""The exit status that tells service managers that another start is of no use (EX_NOPERM of sysexits.h)."""


class Credential(msgspec.Struct, frozen=True):
    server: str
    agent_id: str
    credential: str


def enrol(
    server: str, data_dir: Path, code: str | None, *, name: str, host_serial: str
) -> ApiClient:
    """Return a client with this agent's credential, which is obtained with `code` if there is none yet. Raises
    UserError."""
    server = check_address(server)
    path = data_dir / "credential.json"
    stored = _read(path)
    if stored is not None and stored.server.rstrip("/") == server:
        if code is not None:
            log.info("already enrolled as %s; the code is not used", stored.agent_id)
        return ApiClient(server, stored.credential)
    if code is None:
        state = (
            f"It is enrolled at {stored.server}."
            if stored
            else "It has no credential yet."
        )
        advice = "Get a one-time code with `paceline-server enrolment-code` and give it with --enrol."
        raise UserError(f"This agent is not enrolled at {server}. {state}", advice)
    api = ApiClient(server)
    try:
        enrolment = api.enrol(
            check_credential(code, "The enrolment code"), name, host_serial
        )
    except ApiError as error:
        if error.code == "host_taken":
            raise HostTakenError(error) from error
        advice = "Codes work once and expire: get a new one and start again."
        raise UserError(
            f"The server refused the enrolment: {error.detail}", advice
        ) from error
    except UnreachableError as error:
        raise UserError(
            f"The server cannot be reached: {error}", "Check --server and the network."
        ) from error
    finally:
        api.close()
    _write_secret(
        path,
        msgspec.json.encode(
            Credential(server, enrolment.agent_id, enrolment.credential)
        ),
    )
    log.info("enrolled as %s", enrolment.agent_id)
    return ApiClient(server, enrolment.credential)


def rotate(api: ApiClient, data_dir: Path) -> None:
    """Replace the stored credential by a new one of the server, if there is one. The old one works until the server
    has seen the new one, so an agent that ends in between is not locked out. Raises ApiError, UnreachableError."""
    path = data_dir / "credential.json"
    stored = _read(path)
    new = api.renew_credential()
    if stored is None or new is None:
        return
    try:
        _write_secret(
            path,
            msgspec.json.encode(Credential(stored.server, stored.agent_id, new)),
        )
    except OSError as error:
        log.warning("the new credential could not be stored: %s", error)
        return
    api.use(new)
    log.info("replaced the credential of %s", stored.agent_id)


class HostTakenError(UserError):
    """The server enrols no second agent for this host. Its sentence says what to do."""

    exit_status = NO_OTHER_START

    def __init__(self, error: ApiError) -> None:
        super().__init__(
            f"The server refused the enrolment: {error.detail}",
            "The code was not used: it works until it expires.",
        )


class NotAcceptedError(UserError):
    """The server does not accept this agent."""

    exit_status = NO_OTHER_START

    def __init__(self, error: ApiError, data_dir: Path) -> None:
        advice = (
            f"Remove {data_dir / 'credential.json'} and enrol again with a new one-time code; one made with "
            "--replaces keeps the targets of this agent."
        )
        super().__init__(
            f"The server does not accept this agent: {error.detail}", advice
        )


def _read(path: Path) -> Credential | None:
    try:
        return msgspec.convert(json.loads(path.read_text(encoding="utf-8")), Credential)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", "Remove it and enrol again."
        ) from error


def _write_secret(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, from its first byte on."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
