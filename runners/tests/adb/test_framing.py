"""Tests of reading a shell's bytes: shell v2 and the sentinel, cut anywhere and compared with a real shell."""

from __future__ import annotations

import itertools
import os
import pty
import shutil
import signal
import struct
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline.adb.port import LostError
from paceline.adb.quoting import command_line
from paceline.adb.sentinel import Sentinel
from paceline.adb.shell import EXEC, TERMINAL, V2, OutputReader, prepare_service
from paceline.adb.shell_v2 import EXIT, LONGEST, STDERR, STDOUT, ShellV2
from paceline_contract.testing.child_process import ChildProcess

SHELLS = [name for name in ("sh", "bash", "mksh") if shutil.which(name)]
"""mksh is Android's own."""
NONCE = "0123456789abcdef"


def packet(kind: int, body: bytes) -> bytes:
    return struct.pack("<BI", kind, len(body)) + body


def fed(reading: OutputReader, data: bytes, cuts: list[int]) -> bytes:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return b"".join(
        piece
        for begin, end in itertools.pairwise(edges)
        for _, piece in reading.feed(data[begin:end])
    )


CUTS = st.lists(st.integers(0, 10_000), max_size=8)
OUTPUT = st.lists(
    st.sampled_from(
        [
            b"a",
            b"\n",
            b"\r",
            b"\r\n",
            b"_",
            b"__RC_",
            f"\n__RC_{NONCE}_".encode(),
            b"$?__",
            b"\0\xff",
        ]
    )
    | st.binary(max_size=30)
).map(b"".join)


@given(
    st.lists(st.tuples(st.sampled_from([STDOUT, STDERR]), st.binary(max_size=50))),
    st.integers(0, 255),
    CUTS,
)
def test_v2_gives_all_output_and_the_status_wherever_it_is_cut(
    packets: list[tuple[int, bytes]], rc: int, cuts: list[int]
) -> None:
    reading = ShellV2()
    data = b"".join(packet(kind, body) for kind, body in packets) + packet(
        EXIT, bytes([rc])
    )
    assert fed(reading, data, cuts) == b"".join(body for _, body in packets)
    assert reading.rc == rc


def test_v2_tells_the_outputs_apart() -> None:
    pieces = ShellV2().feed(
        packet(STDOUT, b"a") + packet(STDERR, b"b") + packet(STDOUT, b"c")
    )
    assert pieces == [("stdout", b"a"), ("stderr", b"b"), ("stdout", b"c")]


def test_v2_without_an_exit_packet_has_no_status() -> None:
    reading = ShellV2()
    reading.feed(packet(STDOUT, b"all there was"))
    assert reading.rc is None


def test_v2_takes_nothing_after_the_exit_packet() -> None:
    reading = ShellV2()
    assert reading.feed(packet(EXIT, b"\0") + packet(STDOUT, b"late")) == []
    assert reading.feed(packet(EXIT, b"\1")) == []
    assert reading.rc == 0


@pytest.mark.parametrize(
    "data", [b"/system/bin/sh: x: not found\n", struct.pack("<BI", STDOUT, LONGEST + 1)]
)
def test_v2_refuses_bytes_that_are_no_packets(data: bytes) -> None:
    with pytest.raises(LostError, match="out of step"):
        ShellV2().feed(data)


def test_v2_refuses_an_exit_packet_without_a_status() -> None:
    with pytest.raises(LostError, match="without a status"):
        ShellV2().feed(packet(EXIT, b""))


@given(OUTPUT, st.integers(0, 255), st.sampled_from([b"\n", b"\r\n", b"\r\r\n"]), CUTS)
def test_the_sentinel_gives_the_output_as_it_was_before_the_terminal_wherever_it_is_cut(
    output: bytes, rc: int, newline: bytes, cuts: list[int]
) -> None:
    if (
        newline == b"\r\r\n"
    ):  # such a terminal cannot be undone for output that holds its CR LF
        output = output.replace(b"\r", b"")
    reading = Sentinel(NONCE)
    text = f"__GO_{NONCE}__\n".encode() + output + f"\n__RC_{NONCE}_{rc}__\n".encode()
    assert fed(reading, text.replace(b"\n", newline), cuts) == output
    assert reading.rc == rc


@given(OUTPUT, CUTS)
def test_output_cut_off_before_the_last_line_has_no_status(
    output: bytes, cuts: list[int]
) -> None:
    reading = Sentinel(NONCE)
    fed(
        reading,
        f"__GO_{NONCE}__\n".encode() + output + f"\n__RC_{NONCE}_0_".encode(),
        cuts,
    )
    assert reading.rc is None


def test_output_is_given_as_soon_as_it_cannot_be_the_last_line() -> None:
    reading = Sentinel(NONCE)
    assert reading.feed(f"__GO_{NONCE}__\nfirst line\n".encode()) == [
        ("stdout", b"first line")
    ]
    assert reading.feed(b"second") == [("stdout", b"\nsecond")]


def test_what_a_terminal_prints_before_the_command_is_not_its_output() -> None:
    reading = Sentinel(NONCE)
    assert reading.feed(b"Welcome!\r\n") == []
    assert reading.feed(
        f"__GO_{NONCE}__\r\nx\r\n\r\n__RC_{NONCE}_3__\r\n".encode()
    ) == [("stdout", b"x\n")]
    assert reading.rc == 3


def test_another_commands_sentinel_is_only_output() -> None:
    reading = Sentinel(NONCE)
    other = b"\n__RC_ffffffffffffffff_0__\n"
    assert fed(reading, f"__GO_{NONCE}__\n".encode() + other, []) == other[:-1]
    assert reading.rc is None


def test_each_command_has_a_nonce_of_its_own() -> None:
    assert Sentinel().around(b"x") != Sentinel().around(b"x")


def through_a_pipe(line: bytes) -> Iterator[bytes]:
    """As `exec:` of adbd: both outputs in one, and an input that stays open as long as the connection."""
    with ChildProcess[bytes](
        ["sh", "-c", line], stdin=-1, stdout=-1, stderr=-2
    ) as shell:
        assert shell.stdout is not None
        yield shell.stdout.read()


def through_a_terminal(line: bytes) -> Iterator[bytes]:
    """As `shell:` of adbd: the terminal turns LF into CR LF and merges both outputs."""
    ours, theirs = pty.openpty()
    with ChildProcess[bytes](
        ["sh", "-c", line], stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        while True:
            try:
                data = os.read(ours, 7)
            except OSError:  # EIO: nobody holds the other end any more
                data = b""
            if not data:
                break
            yield data
    os.close(ours)


@pytest.mark.parametrize(
    ("service", "through"), [(EXEC, through_a_pipe), (TERMINAL, through_a_terminal)]
)
@pytest.mark.parametrize(
    ("argv", "output", "rc"),
    [
        (["printf", "a\\nb"], b"a\nb", 0),
        (["printf", "a\\r\\n\\n"], b"a\r\n\n", 0),
        (["sh", "-c", "echo out; echo err >&2; exit 7"], b"out\nerr\n", 7),
        (
            ["sh", "-c", "kill -9 $$"],
            None,
            137,
        ),  # some shells say "Killed", some only sometimes
        (["cat"], b"", 0),
        (["false"], b"", 1),
    ],
)
def test_a_real_shell_given_our_line_yields_output_and_status(
    service: bytes,
    through: Callable[[bytes], Iterator[bytes]],
    argv: list[str],
    output: bytes | None,
    rc: int,
) -> None:
    name, reading = prepare_service(service, argv)
    pieces = [
        p for data in through(name.removeprefix(service)) for _, p in reading.feed(data)
    ]
    assert output in (None, b"".join(pieces))
    assert reading.rc == rc


@pytest.mark.parametrize("name", SHELLS)
@pytest.mark.parametrize("service", [V2, TERMINAL])
def test_a_hangup_of_the_shell_alone_ends_grandchildren_too(
    service: bytes, name: str
) -> None:
    """adbd sends SIGHUP to the shell it started and to nothing else."""
    with started(service, name) as shell:
        assert shell.stdout is not None
        shell.send_signal(signal.SIGHUP)
        assert (
            b"never" not in shell.stdout.read()
        )  # ends only when nobody holds the pipe: no process is left
    assert shell.returncode == -signal.SIGKILL


@pytest.mark.parametrize("name", SHELLS)
def test_the_end_of_the_input_ends_grandchildren_where_no_signal_comes(
    name: str,
) -> None:
    """adbd sends none to a command of `exec:`."""
    with started(EXEC, name) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        shell.stdin.close()
        assert b"never" not in shell.stdout.read()
    assert shell.returncode == -signal.SIGKILL


def started(service: bytes, shell_name: str) -> ChildProcess[bytes]:
    """Our line for a command with a grandchild, in a session of its own as adbd makes it; it runs."""
    name, _ = prepare_service(
        service, ["sh", "-c", "sleep 600 & echo runs; sleep 600; echo never"]
    )
    shell = ChildProcess[bytes](
        [shell_name, "-c", name.removeprefix(service)], stdin=-1, stdout=-1, bufsize=0
    )
    assert shell.stdout is not None
    while shell.stdout.readline() != b"runs\n":
        pass
    return shell


def test_the_shell_is_given_the_quoted_argv_and_nothing_of_it_unquoted() -> None:
    name, _ = prepare_service(V2, ["echo", "$(reboot)"])
    assert command_line(["echo", "$(reboot)"]) in name
    assert name.count(b"$(reboot)") == 1
