"""The handshake with a device: identifies it and proves that it trusts this agent's key.

    CNXN ──▶ AUTH token ──▶ signature ──▶ AUTH token ──▶ public key ──▶ (a person) ──▶ CNXN
      └────────────────────────┴───────────────────────────────────────────────────────▲

Each way a handshake can end has its own error with advice. A key is offered once: every offer opens another
dialog on the device (adbd queues them, `AdbdAuthContext::PromptUser`), and none closes with its connection.
So a handshake that waits for a person is kept in `KeyOffers` and continued by the next try; after its
connection ended, the key is offered again only after OFFER_AGAIN_S.
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
"""What we say we are, less what we do not use."""
AUTH_TOKEN, AUTH_SIGNATURE, AUTH_PUBLIC_KEY = 1, 2, 3
OFFER_AGAIN_S = 300.0
"""Between two offers to one device: whoever comes back to it finds one dialog, not a hundred."""
PROP_PREFIX = "ro.product."
NOT_RUNNING = ("recovery", "sideload", "bootloader", "rescue")
"""What a device that is not in Android says before its `::` (AOSP adb/adb.cpp, connection states)."""


class HandshakeResult(msgspec.Struct, frozen=True):
    """What a device answered. `longest_message`: bytes of one payload it takes."""

    banner: Banner
    longest_message: int


class Handshake:
    """One handshake on a connection of its own. After UnauthorizedError with `waits_for_person` it stands
    and `finish` may be called again; after any other error the connection is closed."""

    def __init__(
        self, connection: PacketConnection, key: AgentKey, address: str
    ) -> None:
        self.connection = connection
        self.waits_for_person = False
        self._key, self._address, self._whom = key, address, f"the device at {address}"
        self._has_greeted = self._has_signed = False

    def finish(
        self, deadline: float, may_offer: Callable[[], float]
    ) -> HandshakeResult:
        """Up to the device's answer. `may_offer` says in how many seconds the key may be offered, 0 for now.
        Raises Offline-, Unauthorized-, TlsRequiredError."""
        try:
            return self._finish(deadline, may_offer)
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
                raise _refused(self._whom, self._key.fingerprint) from error
            raise OfflineError(
                f"{self._whom} ended the handshake: {error.text}", _NO_ANSWER
            ) from error
        except AdbError:
            self.connection.close()
            raise

    def _finish(
        self, deadline: float, may_offer: Callable[[], float]
    ) -> HandshakeResult:
        if not self._has_greeted:
            self._has_greeted = True
            self._say(
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
                raise LostError(f"it said {packet.name} where its answer was expected")
            self._answer(bytes(packet.payload), deadline, may_offer)

    def _answer(
        self, token: bytes, deadline: float, may_offer: Callable[[], float]
    ) -> None:
        """A token for the first time is signed. A second one means that the device does not know the key."""
        if not self._has_signed:
            self._has_signed = True
            self._say(packets.AUTH, AUTH_SIGNATURE, 0, self._key.sign(token), deadline)
            return
        if self.waits_for_person:
            raise LostError("it asked again while its prompt waits")
        if wait_s := may_offer():
            raise _asked_lately(self._whom, self._key.fingerprint, wait_s)
        self.waits_for_person = True
        self._say(
            packets.AUTH, AUTH_PUBLIC_KEY, 0, self._key.public_text + b"\0", deadline
        )

    def _say(
        self, command: int, arg0: int, arg1: int, payload: bytes, deadline: float
    ) -> None:
        self.connection.send(command, arg0, arg1, payload, deadline)


class KeyOffers:
    """Where the key was offered: handshakes that wait for a person, and when each device was asked last.
    Shared by all connections of one agent; may be used from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, Handshake] = {}
        self._offered_s: dict[str, float] = {}

    def taken(self, address: str) -> Handshake | None:
        """The handshake that waits there; the caller's from now on."""
        with self._lock:
            return self._waiting.pop(address, None)

    def kept(self, address: str, handshake: Handshake) -> None:
        """Keeps one that waits, instead of closing it."""
        with self._lock:
            before, self._waiting[address] = self._waiting.get(address), handshake
        if before is not None:
            before.connection.close()

    def wait_s(self, address: str) -> float:
        """0 when the key may be offered now, which counts as an offer; else for how long not."""
        now = self._clock()
        with self._lock:
            last_s = self._offered_s.get(address)
            if last_s is not None and now - last_s < OFFER_AGAIN_S:
                return last_s + OFFER_AGAIN_S - now
            self._offered_s[address] = now
            return 0.0

    def trusted(self, address: str) -> None:
        """The device answered: should it forget the key, it may be asked at once."""
        with self._lock:
            self._offered_s.pop(address, None)

    def close(self) -> None:
        """Ends what waits."""
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for handshake in waiting:
            handshake.connection.close()


def parse_banner(text: str, address: str) -> Banner:
    """`device::ro.product.name=x;…;features=a,b`. Raises OfflineError for recovery and its kin."""
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


_NO_ANSWER = "Unplug and plug it, or switch USB debugging off and on; another adb may hold the device."


def _refused(whom: str, fingerprint: str) -> UnauthorizedError:
    return UnauthorizedError(
        f"{whom} does not trust this agent",
        f"It ended the connection while its prompt (fingerprint {fingerprint}) was shown. Unlock it and look"
        f" whether USB debugging is on; it is asked again after {OFFER_AGAIN_S / 60:.0f} minutes.",
    )


def _asked_lately(whom: str, fingerprint: str, wait_s: float) -> UnauthorizedError:
    return UnauthorizedError(
        f"{whom} does not trust this agent",
        f"It was asked within the last {OFFER_AGAIN_S / 60:.0f} minutes: accept the prompt with the"
        f" fingerprint {fingerprint} if it still shows one. Else it is asked again in {wait_s / 60:.0f}"
        " minutes, and at once when the agent is restarted.",
    )


def prompt_waits_error(whom: str, fingerprint: str) -> UnauthorizedError:
    """For a device that has shown its prompt and not answered yet; one whose person refused is as silent."""
    return UnauthorizedError(
        f"{whom} asks whether to trust this agent",
        f"Unlock it and accept the prompt with the fingerprint {fingerprint}; tick 'always allow'. No prompt,"
        " or refused by mistake? Switch USB debugging off and on, and it asks again within"
        f" {OFFER_AGAIN_S / 60:.0f} minutes.",
    )


def tls_required_error(whom: str) -> TlsRequiredError:
    """For a device that answers STLS."""
    return TlsRequiredError(
        f"{whom} wants an encrypted connection (wireless debugging)",
        "Pair it with Google's adb and let the agent use that adb server: adb pair HOST:PORT, adb connect"
        " HOST:PORT. Or put it on a cable once: adb tcpip 5555.",
    )
