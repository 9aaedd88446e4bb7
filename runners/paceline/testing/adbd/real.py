"""A device whose ADB daemon is Google's adbd, built by `scripts/adbd/build`.

It shares everything but the daemon with the simulated device, so that one test can check both. adbd runs as
Android's user `shell` in a network of its own; a relay passes connections on to it and simulates the faults
of a network. A fault inside the daemon exists only in ours: setting one here raises.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
from collections.abc import Set
from pathlib import Path
from typing import Any, Literal

import psutil

from paceline.testing.adbd import auth
from paceline.testing.adbd.auth import PublicKey
from paceline.testing.adbd.device import Child, environment_of
from paceline.testing.adbd.faults import Faults
from paceline.testing.adbd.peer import Peer
from paceline.testing.adbd.transfer import CutError, PacketTransfer

BUILT = "PACELINE_ADBD"
"""Environment variable with the directory that `scripts/adbd/build` made."""
DATA_BYTES = 1 << 30
"""Storage below /data; it takes memory only where it is used. With less the agent would take no job."""
PORT = 5555
"""The port of adbd in the device's own network."""
DAEMON = "/system/bin/adbd"
CONTROL_SOCKET = "/dev/socket/adbd"
"""The socket on which adbd asks the system whether to accept a key (frameworks/native/libs/adbd_auth)."""
TRUSTED_KEYS = "data/misc/adb/adb_keys"
START_TIMEOUT_S, START_POLL_S = 20.0, 0.01
INSIDE_THE_DAEMON = ("stls", "legacy", "no_space_after", "refuse")
KEY_BYTES = 4096
"""The longest message of adbd about a key: two letters, then the key."""


class RealFaults(Faults):
    """Faults of the network and of the person; setting another one raises AttributeError."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in INSIDE_THE_DAEMON and value:
            raise AttributeError(
                f"fault {name!r} exists inside the simulated daemon only"
            )
        super().__setattr__(name, value)


class Relay:
    """Passes a client's connection on to adbd."""

    def __init__(self, peer: RealPeer, transfer: PacketTransfer) -> None:
        self._peer, self._transfer = peer, transfer
        self.online = False

    async def run(self) -> None:
        """Pass bytes on until either side ends."""
        if self._peer.faults.offline:
            self._transfer.close()
            return
        loop = asyncio.get_running_loop()
        try:
            theirs = await self._peer.device.connect(PORT)
        except OSError:  # adbd is being started again
            self._transfer.close()
            return
        self.online = True
        with theirs:
            theirs.setblocking(False)
            theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            async def to_adbd() -> None:
                while True:
                    await loop.sock_sendall(theirs, await self._transfer.receive_some())

            async def from_adbd() -> None:
                while data := await loop.sock_recv(theirs, 1 << 16):
                    await self._transfer.send(data)

            both = [asyncio.create_task(to_adbd()), asyncio.create_task(from_adbd())]
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self.online = False
                self._transfer.cut()
                for task in both:
                    task.cancel()
                for ended in await asyncio.gather(*both, return_exceptions=True):
                    if isinstance(ended, Exception) and not isinstance(
                        ended, CutError | OSError
                    ):
                        raise ended
                self._transfer.close()

    def cut(self) -> None:
        """End the connection at once."""
        self._transfer.cut()


class RealPeer(Peer):
    """A device with the adbd in `built`, which `scripts/adbd/build` made. The other arguments are `Peer`'s."""

    def __init__(
        self,
        built: Path,
        root: Path,
        serial: str = "REAL0001",
        *,
        api: int = 34,
        trust: Literal["any"] | Set[str] | None = "any",
        data_bytes: int = DATA_BYTES,
        port: int = 0,
    ) -> None:
        super().__init__(
            root,
            serial,
            api=api,
            trust=trust,
            mode="namespace",
            port=port,
            data_bytes=data_bytes,
        )
        self.faults: Faults = RealFaults()
        self._root = self.files
        for source, target in (
            ("bin/adbd", "bin/adbd"),
            ("lib64/libcrypto.so.0", "lib64/libcrypto.so.0"),
        ):
            (self._root / "system" / target).parent.mkdir(exist_ok=True)
            shutil.copy(built / source, self._root / "system" / target)
        self.props["service.adb.listen_addrs"] = f"tcp:{PORT}"
        if trust is None:
            self.props["ro.adb.secure"] = "0"
        self._offered: list[str] = []
        """Keys that adbd asked about, as texts."""
        self._daemon: Child | None = None
        self._framework: asyncio.Task[None] | None = None
        self._restarting: asyncio.Task[None] | None = None

    @property
    def daemon_log(self) -> Path:
        return self._root / "adbd.log"

    def processes(self) -> list[int]:
        """Return the process ids of the device, without the daemon's own."""
        return [pid for pid in super().processes() if not _is_adbd(pid)]

    def kill_daemon(self) -> None:
        self._call(self._kill_daemon())

    def fill_storage(self, left: int) -> None:
        """Shrink the device's storage to its used bytes and this many more."""
        self._call(self._resize(shutil.disk_usage(self.files / "data").used + left))

    def empty_storage(self) -> None:
        self._call(self._resize(DATA_BYTES))

    async def trusts(self, key: PublicKey) -> bool:
        """Remember the keys that the person allowed, as a phone does after "always allow"."""
        allowed = await super().trusts(key)
        if allowed:
            text = "".join(
                f"{known}\n"
                for known in self._offered
                if auth.fingerprint(known) in self._known
            )
            (self.files / TRUSTED_KEYS).write_text(text)
        return allowed

    # --- in the event loop ---

    async def _resize(self, data_bytes: int) -> None:
        self.device.tell({"resize": data_bytes})

    def _session(self, transfer: PacketTransfer) -> Relay:
        return Relay(self, transfer)

    async def _stop(self) -> None:
        self._forget_daemon()
        await super()._stop()
        self.files = self._root

    async def _end_processes(self) -> None:
        self._forget_daemon()
        await super()._end_processes()

    async def _kill_daemon(self) -> None:
        daemon, self._daemon = self._daemon, None
        if daemon is not None:
            self._forget_daemon()
            daemon.kill()
            await daemon.wait()
        await self._boot()

    def _forget_daemon(self) -> None:
        """Stop the tasks that watch the daemon, because its end is expected."""
        for task in (self._framework, self._restarting):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        self._daemon = self._framework = self._restarting = None

    async def _boot(self) -> None:
        self.files = self.device.files
        text = "".join(f"{key}={value}\n" for key, value in self.properties().items())
        (self._root / "system/build.prop").write_text(text)
        with open(os.devnull, "rb") as nothing, self.daemon_log.open("ab") as log:  # noqa: PTH123 - a device
            descriptors = (nothing.fileno(), log.fileno(), log.fileno())
            self._daemon = self.device.spawn(
                [DAEMON],
                environment_of(self.device),
                descriptors,
                terminal=False,
                listens={"adbd": CONTROL_SOCKET},
            )
        (await self._connect_when_ready(PORT)).close()
        self._framework = asyncio.create_task(
            self._answer_key_requests(await self._connect_when_ready(CONTROL_SOCKET))
        )
        self._restarting = asyncio.create_task(self._restart_after_end(self._daemon))

    async def _connect_when_ready(self, where: int | str) -> socket.socket:
        """Connect to it. Raises OSError if it does not listen in time."""
        deadline = self._loop.time() + START_TIMEOUT_S
        while True:
            try:
                return await self.device.connect(where)
            except OSError as error:
                if self._loop.time() > deadline:
                    log = self.daemon_log.read_text(errors="replace")
                    raise OSError(
                        f"adbd does not listen at {where}: {error}\n{log}"
                    ) from None
            await asyncio.sleep(START_POLL_S)

    async def _restart_after_end(self, daemon: Child) -> None:
        """Restart the daemon after it ended by itself, as Android's init does."""
        await daemon.wait()
        self._forget_daemon()
        await self._boot()

    async def _answer_key_requests(self, control: socket.socket) -> None:
        """Play the system of a phone: show a dialog and tell adbd the person's answer. adbd asks for one key
        at a time.
        """
        with control:
            control.setblocking(False)
            while request := await self._loop.sock_recv(control, KEY_BYTES):
                if request[:2] != b"PK":
                    continue
                text = request[2:].rstrip(b"\0").decode()
                self._offered = [*dict.fromkeys([*self._offered, text])]
                with contextlib.suppress(auth.UnreadableKeyError):
                    allowed = await self.trusts(auth.parse_key(request[2:]))
                    await self._loop.sock_sendall(control, b"OK" if allowed else b"NO")


def _is_adbd(pid: int) -> bool:
    try:
        return psutil.Process(pid).exe().endswith(DAEMON)
    except psutil.Error:
        return True


def built() -> Path | None:
    """Return the directory with an adbd that `scripts/adbd/build` built, if there is one."""
    directory = os.environ.get(BUILT)
    return Path(directory) if directory else None
