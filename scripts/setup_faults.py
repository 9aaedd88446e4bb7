"""Sets up clones under real faults and checks what a person is told and that the next set-up continues.

A fault ends in one of two ways: set-up succeeds all the same, or it fails with a sentence that names the
cause, leaves no process, and the same command without the fault completes what is missing and only that.
Standard library only: it runs where nothing is set up yet.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "setup-faults" / str(os.getpid())
WITHIN_S = 900.0
STEPS = {
    "private tools": (".tools/uv", 2048),
    "python packages": (".venv", 2048),
    "frontend packages": ("frontend/node_modules", 2048),
    "frontend build": ("frontend/dist", 64),
}
"""The output of each step in the clone, and the KiB that it gets when the disk is full."""


class FaultError(Exception):
    """A fault that did not end as it must."""


def require(condition: object, text: str) -> None:
    if not condition:
        raise FaultError(text)


class Clone:
    """A clone of this repository's HEAD, its caches beside it where a fault needs empty ones."""

    def __init__(self, place: Path, *options: str) -> None:
        self.place = place
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run(
            ["git", "clone", "--quiet", *options, f"file://{ROOT}", str(place)],
            check=True,
        )

    def setup(
        self, profile: str = "bench", *before: str, **env: str
    ) -> tuple[int, str]:
        """Run one set-up and return its status and output; `before` is a command that runs it."""
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in own_variables()
        }
        done = subprocess.run(
            [*before, "scripts/setup", profile],
            cwd=self.place,
            env={**environment, **env},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=WITHIN_S,
            check=False,
        )
        return done.returncode, done.stdout

    def require_complete(self, profile: str = "bench", *before: str, **env: str) -> str:
        code, text = self.setup(profile, *before, **env)
        require(code == 0, f"set-up failed:\n{text}")
        require("Traceback" not in text and "unbound variable" not in text, text)
        version = subprocess.run(
            [self.place / ".venv/bin/paceline-server", "--help"],
            capture_output=True,
            check=False,
        )
        require(version.returncode == 0, version.stderr.decode())
        return text

    def require_continues(self, step: str, profile: str = "bench", **env: str) -> None:
        """Run the next set-up and require that it makes `step` and what comes after it, nothing before."""
        text = self.require_complete(profile, **env)
        before = text[: text.index(f"  {step} ")].splitlines()[2:]
        again = [line for line in before if not line.endswith("up to date")]
        require(not again, f"finished steps were made again:\n{text}")
        require(
            not re.search(rf"  {step} +up to date", text),
            f"{step} was taken for whole:\n{text}",
        )

    def processes(self) -> list[str]:
        """Return the processes that work in this clone."""
        problems = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").readlink().is_relative_to(self.place):
                    problems.append(
                        (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    )
            except OSError:
                continue
        return problems

    def size_of(self, output: str) -> int:
        return sum(
            len(files)
            for path, _, files in os.walk(self.place / output)
            if "__pycache__" not in path
        )


def own_variables() -> set[str]:
    """Return the variables that scripts/environment.sh set for this repository; its clones set their own."""
    return {"ROOT", "TMPDIR", "MAKEFLAGS", "MAKELEVEL", "PYTHONDONTWRITEBYTECODE"}


def outside_path() -> str:
    """Return PATH without this repository's own programs."""
    return ":".join(
        place
        for place in os.environ["PATH"].split(":")
        if not place.startswith(str(ROOT))
    )


@contextmanager
def filesystem(place: Path, megabytes: int) -> Iterator[Path]:
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)],
        check=True,
    )
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def nearly_full(place: Path, left_kib: int) -> Iterator[None]:
    ballast = place / "ballast"
    free = shutil.disk_usage(place).free - left_kib * 1024
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free)
    try:
        yield
    finally:
        ballast.unlink()


def require_full_disk(text: str, step: str, place: Path) -> None:
    require(
        re.search(rf"^  {step} +failed after", text, re.MULTILINE),
        f"the step is not named:\n{text}",
    )
    full = re.search(r"The disk is full: \d+ MiB are free now on (.+) \(tmpfs\)", text)
    require(full and full[1] == str(place), f"the filesystem is not named:\n{text}")


def full_disk_at_each_step() -> str:
    """Fill the small filesystem of a clone, in a directory with a space, a quote and non-ASCII letters."""
    with (
        filesystem(WORK / "it's größe", 3000) as disk,
        filesystem(WORK / "cargo", 3000) as cargo,
    ):
        clone = Clone(disk / "the clone")
        env = {"CARGO_HOME": str(cargo / "home")}
        shutil.copytree(
            Path.home() / ".cargo",
            cargo / "home",
            ignore=shutil.ignore_patterns("registry", "git"),
        )
        clone.require_complete("run", **env)
        sizes = {step: clone.size_of(output) for step, (output, _) in STEPS.items()}
        for step, (output, left_kib) in STEPS.items():
            shutil.rmtree(clone.place / output)
            with nearly_full(disk, left_kib):
                code, text = clone.setup("run", **env)
            require(code == 1, f"{step} succeeded on a full disk:\n{text}")
            require_full_disk(text, step, disk)
            clone.require_continues(step, "run", **env)
            require(
                clone.size_of(output) == sizes[step],
                f"{output} is not whole after {step}",
            )
        shutil.rmtree(cargo / "home" / "registry")
        (clone.place / "build/setup/native-packages.stamp").unlink()
        with nearly_full(cargo, 2048):
            code, text = clone.setup("run", **env)
        require(code == 1, f"native packages succeeded on a full disk:\n{text}")
        require_full_disk(text, "native packages", cargo)
        clone.require_continues("native packages", "run", **env)
        with nearly_full(disk, 0):
            (clone.place / "build/setup/frontend-build.stamp").unlink()
            code, text = clone.setup("run", **env)
        require(
            code == 1 and "disk is full" in text, f"a disk without any room:\n{text}"
        )
        clone.require_complete("run", **env)
    return "5 steps: each named with filesystem and room; the next set-up continued"


class Terminal:
    """A set-up on its own terminal."""

    def __init__(self, clone: Clone, *command: str) -> None:
        self.clone, self.shown = clone, ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(clone.place)
            for name in own_variables():
                os.environ.pop(name, None)
            os.execvp(command[0], command)  # noqa: S606 - in the child of a fork

    def read(self, seconds: float) -> bool:
        """Return whether there may be more."""
        if select.select([self.end], [], [], seconds)[0]:
            try:
                piece = os.read(self.end, 65536)
            except OSError:
                return False
            self.shown += piece.decode(errors="replace")
            return bool(piece)
        return True

    def until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + WITHIN_S
        while not condition():
            require(self.read(0.05), f"ended before {what}:\n{self.shown}")
            require(time.monotonic() < deadline, f"{what} did not come:\n{self.shown}")

    def status(self) -> int:
        while self.read(1):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def ctrl_c_at_each_step() -> str:
    clone = Clone(WORK / "interrupted")
    clone.require_complete("run")
    sizes = {step: clone.size_of(output) for step, (output, _) in STEPS.items()}
    for step, (output, _) in STEPS.items():
        shutil.rmtree(clone.place / output)
        (clone.place / "build/setup" / f"{step.replace(' ', '-')}.stamp").unlink()
        interrupt(clone, step, output)
        clone.require_continues(step, "run")
        require(
            clone.size_of(output) == sizes[step], f"{output} is not whole after {step}"
        )
    return f"{len(STEPS)} steps: ended with their children; the next set-up continued"


def interrupt(clone: Clone, step: str, output: str) -> None:
    """Interrupt set-up by Ctrl-C while a step writes its output; the build writes only at its end."""
    terminal = Terminal(clone, "make", "run", "ARGS=--help")
    terminal.until(lambda: f"\033[K  {step}" in terminal.shown, f"the line of {step}")
    if step != "frontend build":
        terminal.until(lambda: clone.size_of(output) > 0, f"the first file of {step}")
    os.write(terminal.end, b"\x03")
    require(terminal.status() != 0, f"{step}: make succeeded:\n{terminal.shown}")
    require(f'Interrupted during "{step}"' in terminal.shown, terminal.shown)
    deadline = time.monotonic() + 5
    while processes := clone.processes():
        require(time.monotonic() < deadline, f"{step} left {processes}")
        time.sleep(0.05)


class CuttingProxy(threading.Thread):
    """A proxy that closes a connection after `limit` bytes of the answer, the first `times` times."""

    def __init__(self, limit: int, times: int) -> None:
        super().__init__(daemon=True)
        self.limit, self.times, self.cut = limit, times, 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def run(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(65536)
            if not piece:
                return
            head += piece
        host, _, port = head.split()[1].decode().rpartition(":")
        try:
            server = socket.create_connection((host, int(port)), timeout=60)
        except OSError:
            client.close()
            return
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        passed, ends = 0, (client, server)
        while ready := select.select(ends, [], [], 120)[0]:
            for end in ready:
                try:
                    piece = end.recv(65536)
                    passed += len(piece) if end is server else 0
                    if piece and passed > self.limit and self.cut < self.times:
                        self.cut += 1
                        piece = b""
                    if not piece:
                        raise OSError
                    (server if end is client else client).sendall(piece)
                except OSError:
                    client.close()
                    server.close()
                    return

    def variables(self) -> dict[str, str]:
        names = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
        return dict.fromkeys(names, self.address) | {"NO_PROXY": "", "no_proxy": ""}


def empty_caches(place: Path) -> dict[str, str]:
    shutil.rmtree(place, ignore_errors=True)
    cargo = place / "cargo"
    shutil.copytree(
        Path.home() / ".cargo", cargo, ignore=shutil.ignore_patterns("registry", "git")
    )
    return {
        "XDG_CACHE_HOME": str(place),
        "UV_CACHE_DIR": str(place / "uv"),
        "PIP_NO_CACHE_DIR": "1",
        "npm_config_cache": str(place / "npm"),
        "CARGO_HOME": str(cargo),
        "npm_config_fetch_retries": "1",
    }


def downloads_cut_for_good() -> str:
    """Cut every connection after 100 kB: each step that downloads fails in turn and then continues."""
    clone, causes = Clone(WORK / "cut"), []
    caches = empty_caches(WORK / "cut-caches")
    proxy = CuttingProxy(100_000, sys.maxsize)
    proxy.start()
    for step in (
        "private tools",
        "python packages",
        "frontend packages",
        "native packages",
    ):
        code, text = clone.setup("run", **caches, **proxy.variables())
        require(code == 1, f"{step} succeeded with cut downloads:\n{text}")
        require(
            re.search(rf"^  {step} +failed after", text, re.MULTILINE),
            f"{step} is not named:\n{text}",
        )
        cause = re.search(
            r"^  A (download was cut|server cannot be reached)[^\n]*",
            text,
            re.MULTILINE,
        )
        require(cause, f"the cause is not named:\n{text}")
        causes.append(cause[0] if cause else "")
        finish_one(clone, step, caches)
    proxy.listening.close()
    return f"4 steps: named ({causes[0].strip()[:60]}…); the next set-up continued"


def finish_one(clone: Clone, step: str, caches: dict[str, str]) -> None:
    """Finish the step without the fault, because the next step is to meet it."""
    stamp = clone.place / "build/setup" / f"{step.replace(' ', '-')}.stamp"
    environment = {
        key: value for key, value in os.environ.items() if key not in own_variables()
    }
    running = subprocess.Popen(
        ["scripts/setup", "run"],
        cwd=clone.place,
        env={**environment, **caches},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    require(running.stdout, "no output")
    shown = ""
    for line in running.stdout or ():
        shown += line
        if line.startswith(f"  {step} "):
            require(re.search(r"\d s$", line.strip()) or "up to date" in line, shown)
            running.send_signal(signal.SIGTERM)
            running.communicate()
            break
    require(
        stamp.exists() and stamp.read_text() != "unfinished\n",
        f"{step} did not finish:\n{shown}",
    )


def downloads_cut_twice() -> str:
    clone = Clone(WORK / "cut-twice")
    proxy = CuttingProxy(100_000, 2)
    proxy.start()
    clone.require_complete(
        "bench", **empty_caches(WORK / "cut-caches"), **proxy.variables()
    )
    proxy.listening.close()
    require(proxy.cut == 2, "nothing was cut")
    return "clients asked again and set-up succeeded"


def locales() -> str:
    place = WORK / "locales"
    place.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(
        ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(place / "tr_TR.UTF-8")],
        capture_output=True,
        check=False,
    )
    require((place / "tr_TR.UTF-8").exists(), f"no tr_TR: {made.stderr.decode()}")
    clone = Clone(WORK / "größe 大")
    clone.require_complete(
        "bench", LANG="tr_TR.UTF-8", LC_ALL="tr_TR.UTF-8", LOCPATH=str(place)
    )
    for name in ("C", "POSIX"):
        text = clone.require_complete("bench", LC_ALL=name, LANG=name)
        require(text.count("up to date") == 3, text)
    return "tr_TR and C, in a path beyond ASCII"


def without_home() -> str:
    Clone(WORK / "no home").require_complete("bench", "env", "-u", "HOME")
    return "set up"


def in_mounts(*mounts: str) -> list[str]:
    """Return a command that runs another one with its own mounts."""
    text = "; ".join(("set -e", *mounts, 'exec "$@"'))
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", text, "sh"]


def read_only_home() -> str:
    home = Path.home()
    clone = Clone(WORK / "ro-home")
    read_only = in_mounts(
        f"mount --bind '{home}' '{home}'", f"mount -o remount,ro,bind '{home}'"
    )
    clone.require_complete("bench", *read_only)
    caches = clone.place / "build" / "caches"
    require(
        (caches / "uv").is_dir() and (caches / "cargo" / "registry").is_dir(),
        "caches are elsewhere",
    )
    return "set up, with its caches in the clone"


def small_tmp() -> str:
    clone = Clone(WORK / "small-tmp")
    clone.require_complete("bench", *in_mounts("mount -t tmpfs -o size=4m tmpfs /tmp"))
    return "set up with a /tmp of 4 MB"


def umask_077() -> str:
    clone = Clone(WORK / "umask")
    clone.require_complete("bench", "sh", "-c", 'umask 077; exec "$@"', "sh")
    require((clone.place / ".venv").stat().st_mode & 0o077 == 0, "umask was not kept")
    return "set up"


def one_cpu() -> str:
    Clone(WORK / "one-cpu").require_complete("bench", "taskset", "-c", "0")
    return "set up"


def two_at_once() -> str:
    clone = Clone(WORK / "two")
    answers: list[tuple[int, str]] = []
    both = [
        threading.Thread(target=lambda: answers.append(clone.setup())) for _ in range(2)
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    require(
        [code for code, _ in answers] == [0, 0], "\n".join(text for _, text in answers)
    )
    waited = [
        text for _, text in answers if "another set-up of this clone is running" in text
    ]
    require(
        len(waited) == 1 and waited[0].count("up to date") == 3,
        "\n".join(text for _, text in answers),
    )
    return "the second waited and found everything done"


def kinds_of_clone() -> str:
    """Set up clones without history, which set-up does not need."""
    shallow = Clone(WORK / "shallow", "--depth", "1")
    shallow.require_complete()
    exported = Clone(WORK / "no-git")
    shutil.rmtree(exported.place / ".git")
    exported.require_complete()
    return "shallow, and without .git: set up"


FAULTS = (
    full_disk_at_each_step,
    ctrl_c_at_each_step,
    downloads_cut_for_good,
    downloads_cut_twice,
    locales,
    without_home,
    read_only_home,
    small_tmp,
    umask_077,
    one_cpu,
    two_at_once,
    kinds_of_clone,
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Sets up clones under real faults.")
    parser.add_argument(
        "-k", dest="word", default="", help="only faults with this in their name"
    )
    word = parser.parse_args().word.replace("-", "_")
    if sys.platform != "linux" or os.geteuid() != 0:
        sys.stderr.write(
            "setup-faults: needs Linux and root, to mount small filesystems\n"
        )
        return 1
    os.environ["PATH"] = outside_path()
    WORK.mkdir(parents=True, exist_ok=True)
    failed = 0
    for fault in (fault for fault in FAULTS if word in fault.__name__):
        name, started = fault.__name__.replace("_", " "), time.monotonic()
        try:
            outcome = fault()
        except Exception as error:
            failed += 1
            outcome = (
                f"FAILED: {error}"
                if isinstance(error, FaultError)
                else traceback.format_exc()
            )
        sys.stdout.write(f"{name:26} {time.monotonic() - started:6.0f} s  {outcome}\n")
        sys.stdout.flush()
    shutil.rmtree(WORK, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
