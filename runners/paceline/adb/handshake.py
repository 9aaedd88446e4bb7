"""Connects to a device by adb-shell, and holds a connect that waits for a person.

    CNXN ──▶ AUTH token ──▶ signature ──▶ AUTH token ──▶ public key ──▶ (a person) ──▶ CNXN
      └────────────────────────┴───────────────────────────────────────────────────────▲

Every offer of a key opens another dialog on the device, which stays when its connection ends (adbd queues
them, `AdbdAuthContext::PromptUser`). adb-shell's `connect` gives up after its time limit, so each connect has a thread
of its own: one that waits for a person is kept in `KeyOffers`, and the next try goes on with it. After its connection
has ended, the key is offered again only after OFFER_AGAIN_S.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from adb_shell import exceptions

from paceline.adb.adb_shell_fixes import EncryptionRequestedError, PatchedDevice
from paceline.adb.keys import AgentKey
from paceline.adb.port import (
    AdbError,
    Banner,
    LostError,
    OfflineError,
    SlowError,
    TlsRequiredError,
    UnauthorizedError,
)

OFFER_AGAIN_S = 300.0
"""Shortest time between two offers to one device, so that a person finds one dialog there, not a hundred."""
PERSON_S = 24 * 3600.0
"""How long a connect waits for a person; adb-shell's `auth_timeout_s`."""
PROP_PREFIX = "ro.product."
NOT_RUNNING = ("recovery", "sideload", "bootloader", "rescue")
"""States of a device that has not started Android; its banner begins with one (AOSP adb/adb.cpp)."""
NO_PACKETS = (
    exceptions.AdbTimeoutError,
    exceptions.InvalidChecksumError,
    exceptions.InvalidCommandError,
    exceptions.InvalidResponseError,
)
"""adb-shell's errors for an answer that is not the protocol."""


class ConnectAttempt:
    """One `connect` of adb-shell in a thread of its own.

    After UnauthorizedError with `waits_for_person` it still runs, and `finish` may be called again. After any other
    error its connection is closed.
    """

    def __init__(
        self,
        transport: Any,
        whom: str,
        key: AgentKey,
        reserve_offer: Callable[[], float],
        timeout_s: float,
    ) -> None:
        """Start the thread. `reserve_offer` returns 0 when the key may be offered now, else the seconds until it may."""
        self.device = PatchedDevice(transport, whom)
        self.waits_for_person = False
        self._transport, self._whom, self._key = transport, whom, key
        self._reserve = reserve_offer
        self._deciding = threading.Lock()
        """Held while it is decided whether the connect waits for a person or is given up."""
        self._is_given_up = False
        self._ended: Future[None] = Future()
        threading.Thread(
            target=self._connect, args=(timeout_s,), name=f"connect {whom}", daemon=True
        ).start()

    def finish(self, deadline: float) -> Banner:
        """Wait until the device accepts us. Raises Absent-, Offline-, Unauthorized-, TlsRequiredError."""
        try:
            return self._finish(deadline)
        except AdbError:
            if not self.waits_for_person:
                self.close()
            raise

    def close(self) -> None:
        """End the connection, and with it the thread."""
        self._transport.abandon()
        self.device.close()

    def _connect(self, timeout_s: float) -> None:
        try:
            self.device.connect(
                rsa_keys=[self._key.signer],
                transport_timeout_s=timeout_s,
                read_timeout_s=timeout_s,
                auth_timeout_s=PERSON_S,
                auth_callback=self._refuse_repeated_offer,
            )
        except Exception as error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    def _refuse_repeated_offer(self, _: object) -> None:
        """Raise when the key may not be offered yet. adb-shell calls this before it offers the key, because the device
        accepted no signature. After the connect was given up nothing is offered: nobody would take up what a person
        accepts."""
        with self._deciding:
            if self._is_given_up:
                raise _silent_error(self._whom)
            if wait_s := self._reserve():
                raise _recently_offered_error(self._whom, self._key.fingerprint, wait_s)
            self.waits_for_person = True

    def _finish(self, deadline: float) -> Banner:
        fingerprint = self._key.fingerprint
        try:
            error = self._ended.exception(max(deadline - time.monotonic(), 0.0))
        except TimeoutError as slow:
            with self._deciding:
                self._is_given_up = not self.waits_for_person
            if self.waits_for_person:
                raise prompt_waits_error(self._whom, fingerprint) from slow
            raise _silent_error(self._whom) from slow
        was_asking, self.waits_for_person = self.waits_for_person, False
        match error:
            case None:
                text = self.device.banner.rstrip(b"\0").decode("utf-8", "replace")
                return parse_banner(text, self._whom)
            case EncryptionRequestedError():
                raise tls_required_error(self._whom) from error
            case SlowError():
                raise _silent_error(self._whom) from error
            case LostError() if was_asking:
                raise _refused_error(self._whom, fingerprint) from error
            case LostError():
                raise OfflineError(
                    f"{self._whom} ended the handshake: {error.text}", _NO_ANSWER
                ) from error
            case error if isinstance(error, NO_PACKETS):
                raise OfflineError(
                    f"{self._whom} does not speak ADB: {error}", _NO_ANSWER
                ) from error
            case _:
                raise error


class KeyOffers:
    """Keeps the connection attempts that wait for a person, and when the key was last offered to each device.

    Shared by all connections of one agent; safe to use from any thread.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, ConnectAttempt] = {}
        self._offered_s: dict[str, float] = {}

    def connect(
        self,
        address: str,
        open_transport: Callable[[], Any],
        whom: str,
        key: AgentKey,
        deadline: float,
    ) -> tuple[PatchedDevice, Banner]:
        """Connect to the device at `address`, or go on with the connect that waits there. Raises Absent-, Offline-,
        Unauthorized-, TlsRequiredError."""
        waiting = self._take(address)
        if waiting is not None:
            try:
                return self._finish(address, waiting, deadline)
            except (OfflineError, UnauthorizedError):
                if waiting.waits_for_person:
                    raise
                # Its connection has ended meanwhile: begin anew.
        attempt = ConnectAttempt(
            open_transport(),
            whom,
            key,
            lambda: self._reserve_offer(address),
            max(deadline - time.monotonic(), 0.0),
        )
        return self._finish(address, attempt, deadline)

    def close(self) -> None:
        """Close all waiting connection attempts."""
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for attempt in waiting:
            attempt.close()

    def _finish(
        self, address: str, attempt: ConnectAttempt, deadline: float
    ) -> tuple[PatchedDevice, Banner]:
        try:
            banner = attempt.finish(deadline)
        except UnauthorizedError:
            if attempt.waits_for_person:
                self._keep(address, attempt)
            raise
        with self._lock:  # if the device forgets the key, it may be offered at once
            self._offered_s.pop(address, None)
        return attempt.device, banner

    def _take(self, address: str) -> ConnectAttempt | None:
        """Remove and return the connect that waits at `address`; the caller owns it now."""
        with self._lock:
            return self._waiting.pop(address, None)

    def _keep(self, address: str, attempt: ConnectAttempt) -> None:
        """Keep a connect that waits for a person; an earlier one there is closed."""
        with self._lock:
            before, self._waiting[address] = self._waiting.get(address), attempt
        if before is not None:
            before.close()

    def _reserve_offer(self, address: str) -> float:
        """Reserve an offer of the key. Returns 0 if it is granted, otherwise the seconds to wait."""
        now = self._clock()
        with self._lock:
            last_s = self._offered_s.get(address)
            if last_s is not None and now - last_s < OFFER_AGAIN_S:
                return last_s + OFFER_AGAIN_S - now
            self._offered_s[address] = now
            return 0.0


def parse_banner(text: str, whom: str) -> Banner:
    """Parse `device::ro.product.name=x;…;features=a,b`. Raises OfflineError for a device that has not
    started Android."""
    state, _, rest = text.partition("::")
    if state in NOT_RUNNING:
        raise OfflineError(f"{whom} is in {state}", "Restart it into Android.")
    pairs = dict(pair.split("=", 1) for pair in rest.split(";") if "=" in pair)
    features = frozenset(filter(None, pairs.pop("features", "").split(",")))
    return Banner(
        features,
        {name.removeprefix(PROP_PREFIX): value for name, value in pairs.items()},
    )


_NO_ANSWER = "Plug it in again, or switch USB debugging off and on. Another adb may be using the device."


def _silent_error(whom: str) -> OfflineError:
    return OfflineError(f"{whom} accepts connections but does not answer", _NO_ANSWER)


def _refused_error(whom: str, fingerprint: str) -> UnauthorizedError:
    return UnauthorizedError(
        f"{whom} does not trust this agent",
        f"It ended the connection while its prompt (fingerprint {fingerprint}) was shown. Unlock it and check"
        f" that USB debugging is on; it is asked again after {OFFER_AGAIN_S / 60:.0f} minutes.",
    )


def _recently_offered_error(
    whom: str, fingerprint: str, wait_s: float
) -> UnauthorizedError:
    return UnauthorizedError(
        f"{whom} does not trust this agent",
        f"It was asked within the last {OFFER_AGAIN_S / 60:.0f} minutes: accept the prompt with the"
        f" fingerprint {fingerprint} if it is still shown. Otherwise it is asked again in {wait_s / 60:.0f}"
        " minutes, or at once when the agent is restarted.",
    )


def prompt_waits_error(whom: str, fingerprint: str) -> UnauthorizedError:
    """Return the error for a device that shows its prompt. A device whose person refused is just as silent."""
    return UnauthorizedError(
        f"{whom} asks whether to trust this agent",
        f"Unlock it and accept the prompt with the fingerprint {fingerprint}; tick 'always allow'. If there is"
        " no prompt, or it was refused by mistake, switch USB debugging off and on; it asks again within"
        f" {OFFER_AGAIN_S / 60:.0f} minutes.",
    )


def tls_required_error(whom: str) -> TlsRequiredError:
    """Return the error for a device that answers STLS."""
    return TlsRequiredError(
        f"{whom} requires an encrypted connection (wireless debugging)",
        "Pair it with Google's adb and let the agent use that adb server: adb pair HOST:PORT, adb connect"
        " HOST:PORT. Or put it on a cable once: adb tcpip 5555.",
    )
