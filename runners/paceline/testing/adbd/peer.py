"""The peer as tests and the simulated fleet use it: an ADB daemon in a thread of its own.

It listens on a loopback port that stays the same through reboots and absences. Public methods may be called
from any thread. Leaving the `with` block leaves no process and no connection.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Set
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from paceline.testing.adbd import properties, tools, tree
from paceline.testing.adbd.auth import PublicKey
from paceline.testing.adbd.device import Device, Mode
from paceline.testing.adbd.faults import Faults
from paceline.testing.adbd.logs import Log
from paceline.testing.adbd.scenarios import Conditions, Scenario, at
from paceline.testing.adbd.session import Session
from paceline.testing.adbd.transfer import PacketTransfer

CALL_TIMEOUT_S = 30.0
WORKDIR = "/data/local/tmp/paceline"
WORKDIR_PROPERTY = "debug.paceline.workdir"


class Served(Protocol):
    """One connection of a client."""

    @property
    def online(self) -> bool:
        """Return whether its handshake has succeeded."""

    async def run(self) -> None:
        """Serve the connection until it ends for any reason."""

    def cut(self) -> None:
        """End the connection at once."""


class Peer:
    """One simulated device.

    `trust`: "any" accepts every offered key without a person; a set of fingerprints accepts those and lets
    every other key wait for `answer_prompt`; None requires no key, as an engineering build does.
    """

    def __init__(
        self,
        root: Path,
        serial: str = "SIM0001",
        *,
        abi: Literal["x86_64", "arm64-v8a"] = "x86_64",
        api: int = 34,
        features: Set[str] = frozenset({"shell_v2", "cmd"}),
        trust: Literal["any"] | Set[str] | None = "any",
        scenario: Scenario = "healthy",
        clock: Callable[[], float] = time.monotonic,
        mode: Mode | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        data_bytes: int = 0,
    ) -> None:
        """Prepare the device; see `Device` for `data_bytes`."""
        self.serial, self.files, self.features = serial, root.resolve(), features
        self.faults = Faults()
        self.violations: list[str] = []
        """Violations of the protocol by clients."""
        self.props = properties.defaults(serial, abi, api)
        self.texts: dict[tuple[str, ...], tools.Text] = {}
        self.calls: list[list[str]] = []
        self.settings: dict[tuple[str, str], str] = {}
        self.fixed_performance = False
        self.fixed: Conditions | None = None
        """Replaces the scenario's conditions."""
        self.log_lines = Log()
        self.prompts: list[str] = []
        """Fingerprints of the keys whose dialogs wait for the person; the first is on the screen. Every offer
        opens another dialog, even of the same key, and none closes with its connection."""
        self._scenario, self._clock, self._began = scenario, clock, clock()
        self._trust, self._known = trust, dict[str, PublicKey]()
        self._dialogs: list[tuple[PublicKey, asyncio.Future[bool]]] = []
        self._asks: tuple[str, int] = (host, port)
        self._reserved: socket.socket | None = None
        """Bound and never listening, to keep the port while the peer does not listen."""
        self._listener: socket.socket | None = None
        self._sessions: dict[asyncio.Task[None], Served] = {}
        self._soon: set[asyncio.Task[None]] = set()
        self._shown_at = 0.0
        self._by_scenario = False
        self._loop = asyncio.SelectorEventLoop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=f"adbd {serial}", daemon=True
        )
        over = tree.prepare(self.files, abi, androids_tools=data_bytes > 0)
        self._boot_id_file = over / "proc/sys/kernel/random/boot_id"
        self.device = Device(self.files, over, abi, mode, data_bytes=data_bytes)
        self._tools = tools.Tools(self)
        self.boot_id = ""
        self._new_boot()

    # --- start and end ---

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._call(self._start())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CALL_TIMEOUT_S)
        self._loop.close()

    @property
    def address(self) -> str:
        return f"{self._asks[0]}:{self._asks[1]}"

    @property
    def workdir(self) -> str:
        """Return the device's path of the directory where clients may keep files."""
        return WORKDIR if self.device.mode == "namespace" else f"{self.files}{WORKDIR}"

    @property
    def connections(self) -> int:
        """Return the number of connections whose handshake has succeeded."""
        return sum(session.online for session in list(self._sessions.values()))

    def processes(self) -> list[int]:
        """Return the host's process ids of everything that runs on the device."""
        return self.device.processes()

    # --- for tests ---

    def cut(self) -> None:
        """End every connection now; commands on the device continue."""
        self._call(self._cut())

    def leave(self) -> None:
        """End every connection and refuse new ones until `come_back`."""
        self._call(self._leave())

    def come_back(self) -> None:
        """Listen again after `leave`."""
        self._call(self._listen())

    def reboot(self) -> None:
        """End every process and connection and come back with another boot id, unless it stays away."""
        self._call(self.restart())

    def kill_daemon(self) -> None:
        """Kill only the daemon, which is started again; commands on the device continue."""
        self._call(self._cut())

    def crash(self) -> None:
        """End the daemon and, as Android's init does, everything that it started. The device does not
        restart."""
        self._call(self._crash())

    def fill_storage(self, left: int) -> None:
        """Leave room for `left` bytes, until `empty_storage`."""
        self.faults.no_space_after = left

    def empty_storage(self) -> None:
        self.faults.no_space_after = None

    def answer_prompt(self, allow: bool) -> None:
        """Answer the prompts of all waiting keys, as a person would."""
        self._call(self._answer_prompts(allow=allow))

    def revoke_keys(self) -> None:
        """Forget every key that a person agreed to, as "Revoke USB debugging authorizations" does, and ask a person
        about each from now on."""

        async def revoke() -> None:
            self._trust = frozenset()
            self._known.clear()

        self._call(revoke())

    def log(self, tag: str, text: str, level: str = "I", pid: int = 1000) -> None:
        """Add the lines of `text` to the device's log."""

        async def add() -> None:
            self.log_lines.add(tag, text, level, pid)

        self._call(add())

    def step(self) -> None:
        """Update files, clocks and presence to the scenario at the current time."""
        self._call(self._step())

    # --- for the device's own parts, in the event loop ---

    def conditions(self) -> Conditions:
        """Return the current conditions."""
        return self.fixed or at(self._scenario, self._clock() - self._began)

    def properties(self) -> dict[str, str]:
        """Return the current properties."""
        known = {**self.props, **properties.boot_completed(booting=self.faults.booting)}
        if self.faults.other_serial is not None:
            known |= {
                "ro.serialno": self.faults.other_serial,
                "ro.boot.serialno": self.faults.other_serial,
            }
        if self.device.mode == "prefix":
            known.setdefault(WORKDIR_PROPERTY, self.workdir)
        return known

    def banner(self, *, legacy: bool) -> bytes:
        """Return the banner in the device's CNXN."""
        known = self.properties()
        words = [
            f"{key}={known[key]}"
            for key in ("ro.product.name", "ro.product.model", "ro.product.device")
        ]
        features = [] if legacy else [f"features={','.join(sorted(self.features))}"]
        end = ";\0" if legacy else ""
        return f"device::{';'.join(words + features)}{end}".encode()

    @property
    def asks_for_keys(self) -> bool:
        return self._trust is not None

    def knows_signer(self, token: bytes, signature: bytes) -> bool:
        """Return whether a trusted key made the signature."""
        return any(key.verify(token, signature) for key in self._known.values())

    async def trusts(self, key: PublicKey) -> bool:
        """Return whether the person trusts `key`; waits for the answer unless the key is trusted already."""
        if self.faults.deny_prompt:
            return False
        allowed = self._trust == "any" or (
            self._trust is not None and key.fingerprint in self._trust
        )
        if not allowed:
            decision = self._loop.create_future()
            self._dialogs.append((key, decision))
            self.prompts = [waiting.fingerprint for waiting, _ in self._dialogs]
            allowed = await asyncio.shield(decision)
        if allowed:
            self._known[key.fingerprint] = key
        return allowed

    def become_root(self, *, to_root: bool) -> tuple[str, bool]:
        """Switch root on or off; return what `adb root` prints, and whether adbd restarts."""
        is_root = self.props.get("service.adb.root") == "1"
        if is_root == to_root:
            return (
                "adbd is already running as root"
                if to_root
                else "adbd not running as root",
                False,
            )
        if to_root and self.props.get("ro.debuggable") != "1":
            return "adbd cannot run as root in production builds", False
        self.props["service.adb.root"] = str(int(to_root))
        return f"restarting adbd as {'root' if to_root else 'non root'}", True

    def cut_soon(self) -> None:
        """End every connection after the current answer was sent."""
        self._later(self._cut())

    def restart_soon(self) -> None:
        """Reboot the device after the current answer was sent."""
        self._later(self.restart())

    async def restart(self) -> None:
        """Reboot the device."""
        self._stop_listening()
        await self._end_processes()
        self._new_boot()
        self.log_lines.clear()
        self.props.pop("service.adb.root", None)
        self.fixed_performance = False
        await self._cut()
        await self._boot()
        if not self.faults.stays_away:
            await self._listen()

    # --- internals ---

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` in the event loop and wait; when called from the loop itself, schedule it."""
        if threading.current_thread() is self._thread:
            self._later(work)
        else:
            asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_TIMEOUT_S)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)

    def _new_boot(self) -> None:
        self.boot_id = str(uuid.uuid4())
        self._boot_id_file.write_text(f"{self.boot_id}\n")

    async def _start(self) -> None:
        self.device.start()
        self._tools.listen()
        self._reserve()
        tree.write_conditions(self.files, self.conditions(), 0.0)
        await self._boot()
        await self._listen()

    async def _boot(self) -> None:
        """Start what a device starts at boot: nothing here, because this process is the daemon."""

    async def _end_processes(self) -> None:
        await self.device.kill_all()
        tree.forget_asks(self.files)

    async def _crash(self) -> None:
        self._stop_listening()
        await self._end_processes()
        await self._cut()
        await self._boot()
        await self._listen()

    async def _stop(self) -> None:
        self._stop_listening()
        await self._cut()
        for task in list(self._soon):
            task.cancel()
        await self._tools.close()
        self.device.stop()
        if self._reserved is not None:
            self._reserved.close()

    def _reserve(self) -> None:
        self._reserved = _bound(self._asks)
        self._asks = self._reserved.getsockname()

    async def _listen(self) -> None:
        if self._listener is not None:
            return
        listener = _bound(self._asks)
        listener.listen()
        self._listener = listener
        self._loop.add_reader(listener, self._accept, listener)

    def _stop_listening(self) -> None:
        """Stop listening; connections stay."""
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            self._listener.close()
        self._listener = None

    async def _leave(self) -> None:
        self._stop_listening()
        await self._cut()

    async def _cut(self) -> None:
        sessions = dict(self._sessions)
        for session in sessions.values():
            session.cut()
        others = [task for task in sessions if task is not asyncio.current_task()]
        await asyncio.wait(others, timeout=CALL_TIMEOUT_S) if others else None

    def _accept(self, listener: socket.socket) -> None:
        """Serve a waiting connection. No task awaits it, for one that is cancelled after the connection was accepted
        would lose it unclosed."""
        try:
            connection, _ = listener.accept()
        except OSError:  # its client is gone again
            return
        session = self._session(PacketTransfer(connection, self.faults))
        task = self._loop.create_task(session.run())
        self._sessions[task] = session
        task.add_done_callback(self._sessions.pop)

    def _session(self, transfer: PacketTransfer) -> Served:
        return Session(self, transfer)

    async def _answer_prompts(self, *, allow: bool) -> None:
        for key, decision in self._dialogs:
            decision.set_result(allow)
            if allow:  # "always allow": trusted even after its connection has ended
                self._known[key.fingerprint] = key
        self._dialogs.clear()
        self.prompts = []

    async def _step(self) -> None:
        elapsed = self._clock() - self._began
        now = self.conditions()
        tree.write_conditions(self.files, now, elapsed - self._shown_at)
        self._shown_at = elapsed
        if now.present and self._by_scenario:
            self._by_scenario = False
            await self._listen()
        elif not now.present and not self._by_scenario:
            self._by_scenario = True
            await self._leave()


def _bound(address: tuple[str, int]) -> socket.socket:
    """Return a socket bound to an address that several sockets of this process share."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform != "win32":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.setblocking(False)
    made.bind(address)
    return made
