"""The handshake with a device: identifies it and proves that it trusts this agent's key.

    CNXN ──▶ AUTH token ──▶ signature ──▶ AUTH token ──▶ public key ──▶ (a person) ──▶ CNXN
      └────────────────────────┴───────────────────────────────────────────────────────▲

Every offer of a key opens another dialog on the device, which stays when its connection ends (adbd queues
them, `AdbdAuthContext::PromptUser`). So a handshake that waits for a person is kept in `KeyOffers` and the next
try continues it. After its connection has ended, the key is offered again only after OFFER_AGAIN_S.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec

from paceline.adb import packets
from paceline.adb.keys import AgentKey
from paceline.adb.packets import PacketConnection
from paceline.adb.port import (
    AdbError,
    Banner,
    LostError,
    OfflineError,
    SlowError,
    TlsRequiredError,
    UnauthorizedError,
)

HOST_BANNER = b"host::features=shell_v2,cmd\0"
"""The features of adb's host side that this client uses."""
AUTH_TOKEN, AUTH_SIGNATURE, AUTH_PUBLIC_KEY = 1, 2, 3
OFFER_AGAIN_S = 300.0
"""Shortest time between two offers to one device, so that a person finds one dialog there, not a hundred."""
PROP_PREFIX = "ro.product."
NOT_RUNNING = ("recovery", "sideload", "bootloader", "rescue")
"""States of a device that has not started Android; its banner begins with one (AOSP adb/adb.cpp)."""


class HandshakeResult(msgspec.Struct, frozen=True):
    """What a device answered. `longest_message`: most bytes of one payload it accepts."""

    banner: Banner
    longest_message: int


class Handshake:
    """One handshake on a connection of its own.

    After UnauthorizedError with `waits_for_person` the connection is still open and `finish` may be called
    again. After any other error it is closed.
    """

    def __init__(
        self, connection: PacketConnection, key: AgentKey, address: str
    ) -> None:
        self.connection = connection
        self.waits_for_person = False
        self._key, self._address, self._whom = key, address, f"the device at {address}"
        self._has_greeted = self._has_signed = False

    def finish(
        self, deadline: float, request_offer: Callable[[], float]
    ) -> HandshakeResult:
        """Continues until the device accepts us. `request_offer` returns 0 when the key may be offered now,
        else the seconds until it may. Raises Offline-, Unauthorized-, TlsRequiredError."""
        try:
            return self._finish(deadline, request_offer)
        except SlowError as error:
            if self.waits_for_person:
                raise prompt_waits_error(self._whom, self._key.fingerprint) from error
            self.connection.close()
            raise OfflineError(
                f"{self._whom} accepts connections but does not answer", _NO_ANSWER
            ) from error
        except LostError as error:
            self.connection.close()
            if self.waits_for_person:
                self.waits_for_person = False
                raise _refused_error(self._whom, self._key.fingerprint) from error
            raise OfflineError(
                f"{self._whom} ended the handshake: {error.text}", _NO_ANSWER
            ) from error
        except AdbError:
            self.connection.close()
            raise

    def _finish(
        self, deadline: float, request_offer: Callable[[], float]
    ) -> HandshakeResult:
        if not self._has_greeted:
            self._has_greeted = True
            self._send(
                packets.CNXN,
                packets.VERSION,
                packets.LONGEST_PAYLOAD,
                HOST_BANNER,
                deadline,
            )
        while True:
            packet = self.connection.receive(deadline)
            if packet.command == packets.CNXN:
                self.waits_for_person = False
                self.connection.sums = packet.arg0 < packets.VERSION
                text = packet.payload.rstrip(b"\0").decode("utf-8", "replace")
                longest = max(1, min(packet.arg1, packets.LONGEST_PAYLOAD))
                return HandshakeResult(parse_banner(text, self._address), longest)
            if packet.command == packets.STLS:
                raise tls_required_error(self._whom)
            if packet.command != packets.AUTH or packet.arg0 != AUTH_TOKEN:
                raise LostError(f"it sent {packet.name} where its answer was expected")
            self._answer_token(bytes(packet.payload), deadline, request_offer)

    def _answer_token(
        self, token: bytes, deadline: float, request_offer: Callable[[], float]
    ) -> None:
        """Signs the first token. A second one means that the device does not know the key: offers it."""
        if not self._has_signed:
            self._has_signed = True
            self._send(packets.AUTH, AUTH_SIGNATURE, 0, self._key.sign(token), deadline)
            return
        if self.waits_for_person:
            raise LostError("it asked again while its prompt waits")
        if wait_s := request_offer():
            raise _offered_lately_error(self._whom, self._key.fingerprint, wait_s)
        self.waits_for_person = True
        self._send(
            packets.AUTH, AUTH_PUBLIC_KEY, 0, self._key.public_text + b"\0", deadline
        )

    def _send(
        self, command: int, arg0: int, arg1: int, payload: bytes, deadline: float
    ) -> None:
        self.connection.send(command, arg0, arg1, payload, deadline)


class KeyOffers:
    """Handshakes that wait for a person, and when the key was last offered to each device.

    Shared by all connections of one agent; safe to use from any thread.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, Handshake] = {}
        self._offered_s: dict[str, float] = {}

    def take(self, address: str) -> Handshake | None:
        """Removes and returns the handshake that waits at `address`; the caller owns it now."""
        with self._lock:
            return self._waiting.pop(address, None)

    def keep(self, address: str, handshake: Handshake) -> None:
        """Keeps a handshake that waits for a person; an earlier one there is closed."""
        with self._lock:
            before, self._waiting[address] = self._waiting.get(address), handshake
        if before is not None:
            before.connection.close()

    def request(self, address: str) -> float:
        """Returns 0 when the key may be offered now, and counts that as an offer; else the seconds to wait."""
        now = self._clock()
        with self._lock:
            last_s = self._offered_s.get(address)
            if last_s is not None and now - last_s < OFFER_AGAIN_S:
                return last_s + OFFER_AGAIN_S - now
            self._offered_s[address] = now
            return 0.0

    def note_trust(self, address: str) -> None:
        """Notes that the device accepted the key. If it forgets the key, it may be offered at once."""
        with self._lock:
            self._offered_s.pop(address, None)

    def close(self) -> None:
        """Closes all waiting handshakes."""
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for handshake in waiting:
            handshake.connection.close()


def parse_banner(text: str, address: str) -> Banner:
    """Parses `device::ro.product.name=x;…;features=a,b`. Raises OfflineError for a device that has not
    started Android."""
    state, _, rest = text.partition("::")
    if state in NOT_RUNNING:
        raise OfflineError(
            f"the device at {address} is in {state}", "Restart it into Android."
        )
    pairs = dict(pair.split("=", 1) for pair in rest.split(";") if "=" in pair)
    features = frozenset(filter(None, pairs.pop("features", "").split(",")))
    return Banner(
        features,
        {name.removeprefix(PROP_PREFIX): value for name, value in pairs.items()},
    )


_NO_ANSWER = "Plug it in again, or switch USB debugging off and on. Another adb may be using the device."


def _refused_error(whom: str, fingerprint: str) -> UnauthorizedError:
    return UnauthorizedError(
        f"{whom} does not trust this agent",
        f"It ended the connection while its prompt (fingerprint {fingerprint}) was shown. Unlock it and check"
        f" that USB debugging is on; it is asked again after {OFFER_AGAIN_S / 60:.0f} minutes.",
    )


def _offered_lately_error(
    whom: str, fingerprint: str, wait_s: float
) -> UnauthorizedError:
    return UnauthorizedError(
        f"{whom} does not trust this agent",
        f"It was asked within the last {OFFER_AGAIN_S / 60:.0f} minutes: accept the prompt with the"
        f" fingerprint {fingerprint} if it is still shown. Otherwise it is asked again in {wait_s / 60:.0f}"
        " minutes, or at once when the agent is restarted.",
    )


def prompt_waits_error(whom: str, fingerprint: str) -> UnauthorizedError:
    """The error for a device that shows its prompt. A device whose person refused is just as silent."""
    return UnauthorizedError(
        f"{whom} asks whether to trust this agent",
        f"Unlock it and accept the prompt with the fingerprint {fingerprint}; tick 'always allow'. If there is"
        " no prompt, or it was refused by mistake, switch USB debugging off and on; it asks again within"
        f" {OFFER_AGAIN_S / 60:.0f} minutes.",
    )


def tls_required_error(whom: str) -> TlsRequiredError:
    """The error for a device that answers STLS."""
    return TlsRequiredError(
        f"{whom} requires an encrypted connection (wireless debugging)",
        "Pair it with Google's adb and let the agent use that adb server: adb pair HOST:PORT, adb connect"
        " HOST:PORT. Or put it on a cable once: adb tcpip 5555.",
    )
