"""Answers the device's tools: scripted texts first, then what the peer knows itself.

A command on the device runs `dumpsys`, `getprop`, `logcat` …, whose script (`tree.py`) asks here. Every call
is recorded in `peer.calls` before it is answered, so that a test sees what was changed and restored. An
unknown tool or service is reported as Android does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from paceline.testing.adbd import descriptors, logs, properties, reports, tree

if TYPE_CHECKING:
    from paceline.testing.adbd.peer import Peer

Answer = str | tuple[int, str]
"""The printed text, with exit status 0 or the given one."""
Text = Answer | Callable[[], Answer]

OPEN_TRIES, OPEN_WAIT_S = 2000, 0.001
"""How long a tool may take to open its end after its request; a killed tool never opens it."""

STAY_AWAKE = {"true": "7", "false": "0", "ac": "1", "usb": "2", "wireless": "4"}
"""`svc power stayon` → settings global stay_on_while_plugged_in."""


class Tools:
    """Answers the device's tools, in the event loop of its peer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._asked = b""
        self._descriptor = -1
        self._answers: set[asyncio.Task[None]] = set()

    def listen(self) -> None:
        calls = tree.calls_of(self._peer.files)
        self._descriptor = descriptors.open_pipe(calls, os.O_RDWR)
        asyncio.get_running_loop().add_reader(self._descriptor, self._read_calls)

    async def close(self) -> None:
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
        for task in self._answers:
            task.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)

    def _read_calls(self) -> None:
        self._asked += os.read(self._descriptor, 4096)
        *pids, self._asked = self._asked.split(b"\n")
        for pid in pids:
            task = asyncio.create_task(self._answer(pid.decode()))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)

    async def _answer(self, pid: str) -> None:
        arguments, answer = tree.asks_of(self._peer.files, pid)
        try:
            argv = os.fsdecode(arguments.read_bytes()).split("\0")[:-1]
            descriptor = await _open_answer(answer)
        except OSError:  # it was killed before it read
            return
        self._peer.calls.append(argv)
        try:
            async for part in self._parts(argv):
                if not await descriptors.write(
                    descriptor, part.encode("utf-8", "surrogateescape")
                ):
                    return
        finally:
            os.close(descriptor)

    async def _parts(self, argv: list[str]) -> AsyncIterator[str]:
        """Yield the exit status on its own line, followed by the output."""
        scripted = self._peer.texts.get(tuple(argv))
        if scripted is None and argv[0] == "logcat":
            async for part in self._logcat(argv[1:]):
                yield part
            return
        answer = (
            self._answer_tool(argv)
            if scripted is None
            else scripted()
            if callable(scripted)
            else scripted
        )
        status, text = (0, answer) if isinstance(answer, str) else answer
        yield f"{status}\n{text}"

    def _answer_tool(self, argv: list[str]) -> Answer:
        tool, rest = argv[0], argv[1:]
        answers: dict[str, Callable[[list[str]], Answer]] = {
            "getprop": self._getprop,
            "setprop": self._setprop,
            "dumpsys": self._dumpsys,
            "cmd": self._cmd,
            "settings": self._settings,
            "svc": self._svc,
            "log": self._log,
            "reboot": self._reboot,
            "top": lambda _: reports.TOP,
        }
        return answers[tool](rest) if tool in answers else ""

    def _getprop(self, rest: list[str]) -> Answer:
        known = self._peer.properties()
        if not rest:
            return properties.listed(known)
        return known.get(rest[0], rest[1] if len(rest) > 1 else "") + "\n"

    def _setprop(self, rest: list[str]) -> Answer:
        if len(rest) != 2:
            return 1, "usage: setprop NAME VALUE\n"
        if rest[0].startswith("ro.") and rest[0] in self._peer.props:
            return 1, f"Failed to set property '{rest[0]}' to '{rest[1]}'.\n"
        self._peer.props[rest[0]] = rest[1]
        return ""

    def _dumpsys(self, rest: list[str]) -> Answer:
        now = self._peer.conditions()
        known = {"thermalservice": reports.thermalservice, "battery": reports.battery}
        if len(rest) == 1 and rest[0] in known:
            return known[rest[0]](now)
        return f"Can't find service: {rest[0] if rest else ''}\n"

    def _cmd(self, rest: list[str]) -> Answer:
        if (
            rest[:2] == ["power", "set-fixed-performance-mode-enabled"]
            and len(rest) == 3
        ):
            self._peer.fixed_performance = rest[2] == "true"
            return ""
        return 20, f"cmd: Can't find service: {rest[0] if rest else ''}\n"

    def _settings(self, rest: list[str]) -> Answer:
        match rest:
            case ["get", namespace, key]:
                return self._peer.settings.get((namespace, key), "null") + "\n"
            case ["put", namespace, key, value]:
                self._peer.settings[namespace, key] = value
                return ""
            case ["delete", namespace, key]:
                deleted = self._peer.settings.pop((namespace, key), None)
                return f"Deleted {int(deleted is not None)} rows\n"
        return 255, "Invalid command\n"

    def _svc(self, rest: list[str]) -> Answer:
        if rest[:1] == ["power"] and rest[1:2] == ["reboot"]:
            return self._reboot([])
        if rest[:2] == ["power", "stayon"] and len(rest) == 3:
            self._peer.settings["global", "stay_on_while_plugged_in"] = STAY_AWAKE.get(
                rest[2], "0"
            )
        return ""

    def _log(self, rest: list[str]) -> Answer:
        level, tag, words = "I", "log", list(rest)
        while words and words[0] in ("-p", "-t"):
            option, value, *words = [*words, ""]
            level, tag = (value.upper()[:1], tag) if option == "-p" else (level, value)
        self._peer.log_lines.add(
            tag, " ".join(words).strip(), level, os.getpid() % 32768
        )
        return ""

    def _reboot(self, _: list[str]) -> Answer:
        self._peer.restart_soon()
        return ""

    async def _logcat(self, arguments: list[str]) -> AsyncIterator[str]:
        log = self._peer.log_lines
        if "-c" in arguments:
            log.clear()
            yield "0\n"
            return
        query = logs.read_arguments(arguments)
        number = log.first(query.last)
        yield f"0\n{logs.BEGINNING}"
        while True:
            lines, number = log.since(number)
            if shown := "".join(str(line) for line in lines if query.shows(line)):
                yield shown
            if query.ends:
                return
            await log.wait_for_line()


async def _open_answer(answer: Path) -> int:
    for _ in range(OPEN_TRIES):
        with contextlib.suppress(OSError):  # ENXIO: nobody reads yet
            return descriptors.open_pipe(answer, os.O_WRONLY)
        await asyncio.sleep(OPEN_WAIT_S)
    raise OSError("the tool that asked went away")
