"""One suite for every backend and every shell service: what the port promises, each can do.

A command's text is the same for all; the device in memory knows a few programs, the peer is a real system.
"""

from __future__ import annotations

import hashlib
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paceline.adb.port import (
    AbsentError,
    AdbError,
    LostError,
    OfflineError,
    RefusedError,
    SlowError,
    Stream,
    TransferError,
)
from paceline.testing.hostile import HOSTILE, MARK
from paceline_contract.testing.waiting import WITHIN_S, give_enough_time

from .rigs import Rig, until

NOTHING_S = 0.05
"""Long enough for bytes that are there to arrive, short enough for many tests."""


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def batches(items: list[str], most: int) -> list[list[str]]:
    """Consecutive items, each group at most `most` bytes when quoted at its worst."""
    groups: list[list[str]] = [[]]
    size = 0
    for item in items:
        cost = 4 * len(as_bytes(item)) + 3
        if size + cost > most and groups[-1]:
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += cost
    return groups


def noise(size: int) -> bytes:
    """The same bytes each time, with no pattern a lost or doubled piece could hide in."""
    return random.Random(size).randbytes(size)  # noqa: S311 -- test data


# --- commands ---


def test_connecting_says_what_the_device_is(rig: Rig) -> None:
    banner = rig.connection.connect()
    assert ("shell_v2" in banner.features) == (rig.variant == "v2")
    assert banner.props["model"]


@pytest.mark.parametrize(
    ("argv", "rc"),
    [
        (["true"], 0),
        (["false"], 1),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "exit 255"], 255),
        (["nowhere"], 127),
    ],
)
def test_the_exit_status_is_the_commands_own(
    rig: Rig, argv: list[str], rc: int
) -> None:
    assert rig.connection.run(argv).rc == rc


def test_a_command_connects_by_itself(rig: Rig) -> None:
    assert rig.connection.run(["echo", "a  b"]).text == "a  b\n"


def test_outputs_come_apart_where_the_device_can(rig: Rig) -> None:
    done = rig.connection.run(["sh", "-c", "echo err >&2; echo out; exit 3"])
    assert done.rc == 3
    if rig.apart:
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
    else:
        assert (sorted(done.stdout.split()), done.stderr) == ([b"err", b"out"], b"")


def test_a_commands_input_is_empty(rig: Rig) -> None:
    done = rig.connection.run(["cat"])
    assert (done.rc, done.stdout) == (0, b"")


def test_two_hundred_hostile_strings_come_back_as_they_went(rig: Rig) -> None:
    connection = rig.connection
    seen: list[bytes] = []
    for group in batches(HOSTILE, 3000):
        done = connection.run(["printf", "%s\\0", *group])
        assert done.rc == 0
        seen += done.stdout.split(b"\0")[:-1]
    assert seen == [as_bytes(text) for text in HOSTILE]
    assert connection.run(["cat", MARK]).rc == 1, "one of them became shell"


def test_output_that_looks_like_a_protocols_end_is_only_output(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/looks"
    data = b"\n__RC_0123456789abcdef_0__\n\x03\x01\0\0\0\0__GO_0__\nOKAYCLSEDONE\n" * 2
    connection.push(data, path)
    assert connection.run(["cat", path]).stdout == data


def test_bytes_and_line_ends_survive_every_shell_service(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/bytes"
    data = bytes(range(256)) * 3 + b"\r\n\r\n\n\r\r\n" + b"no line's end"
    connection.push(data, path)
    assert connection.run(["cat", path]).stdout == data


def test_megabytes_of_output_arrive_whole(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/big"
    data = noise((4 if rig.variant == "v2" else 1) << 20)
    connection.push(data, path)
    assert (
        hashlib.sha256(connection.run(["cat", path], 60).stdout).digest()
        == hashlib.sha256(data).digest()
    )


def test_a_command_too_long_for_the_device_is_refused_before_it_is_sent(
    rig: Rig,
) -> None:
    connection = rig.connection
    with pytest.raises(AdbError, match="long") as caught:
        connection.run(["echo", "x" * (1 << 20)])
    assert "script" in caught.value.advice
    assert connection.run(["true"]).rc == 0


@pytest.mark.parametrize("argv", [[], ["a\0b"]])
def test_what_is_no_argv_is_refused(rig: Rig, argv: list[str]) -> None:
    with pytest.raises(AdbError):
        rig.connection.run(argv)


def test_properties_are_parsed(rig: Rig) -> None:
    connection = rig.connection
    props = connection.props()
    assert props["ro.serialno"]
    assert (
        connection.run(["getprop", "ro.serialno"]).text.strip() == props["ro.serialno"]
    )


# --- time, loss ---


def test_a_slow_command_is_ended_on_the_device_and_the_next_one_runs(rig: Rig) -> None:
    connection = rig.connection

    def error_of_command(limit_s: float) -> AdbError | None:
        """Its error, if the limit was long enough for the command to begin."""
        with pytest.raises(AdbError) as caught:
            connection.run(["sleep", "600"], timeout_s=limit_s)
        return caught.value if "sleep 600" in caught.value.text else None

    error = give_enough_time(error_of_command, first_s=0.3)
    assert isinstance(error, SlowError)
    assert "ended on the device" in error.advice
    until(lambda: rig.running() == 0, "it ended")
    assert connection.run(["echo", "next"]).text == "next\n"


def test_a_grandchild_of_a_slow_command_ends_too(rig: Rig) -> None:
    connection = rig.connection
    connection.connect()
    with pytest.raises(SlowError):
        connection.run(["sh", "-c", "sleep 600; echo never"], timeout_s=0.3)
    until(lambda: rig.running() == 0, "both ended")


def test_a_pulled_cable_in_a_command_is_a_lost_transport_and_never_a_status(
    rig: Rig,
) -> None:
    connection = rig.connection
    connection.connect()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(connection.run, ["sleep", "600"], WITHIN_S)
        until(lambda: rig.running() > 0, "it runs")
        rig.cut()
        with pytest.raises(LostError):
            running.result(WITHIN_S)
    rig.plug_in()
    assert connection.run(["echo", "back"]).text == "back\n"


def test_a_cable_pulled_while_nothing_runs_costs_one_error_at_most(rig: Rig) -> None:
    connection = rig.connection
    connection.run(["true"])
    rig.cut()
    rig.plug_in()
    try:
        done = connection.run(["echo", "back"])
    except LostError:
        done = connection.run(["echo", "back"])
    assert done.text == "back\n"


def test_a_reboot_ends_the_connection_and_the_device_comes_back_as_another_boot(
    rig: Rig,
) -> None:
    connection, boot_id = rig.connection, ["cat", "/proc/sys/kernel/random/boot_id"]
    before = connection.run(boot_id).text
    connection.reboot()
    rig.plug_in()
    assert connection.run(boot_id).text not in ("", before)


def test_closing_twice_is_safe_and_use_connects_again(rig: Rig) -> None:
    connection = rig.connection
    connection.close()
    connection.connect()
    connection.close()
    connection.close()
    assert connection.run(["true"]).rc == 0


# --- streams ---


def test_a_stream_gives_what_is_printed_while_the_command_runs(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/log"
    connection.push(b"one\ntwo", path)
    with connection.stream(["tail", "-f", path]) as stream:
        seen = b""
        while len(seen) < 7:
            more = stream.read(WITHIN_S)
            assert more
            seen += more
        assert seen == b"one\ntwo"
        assert stream.read(NOTHING_S) is None
        assert stream.read(NOTHING_S) is None


def test_a_stream_that_ended_says_so_again_and_again(rig: Rig) -> None:
    with rig.connection.stream(["echo", "all"]) as stream:
        seen = b""
        while more := stream.read(WITHIN_S):
            seen += more
        assert more == b""
        assert seen == b"all\n"
        assert stream.read(WITHIN_S) == b""


def test_closing_a_stream_ends_its_command_on_the_device(rig: Rig) -> None:
    stream = rig.connection.stream(["sleep", "600"])
    until(lambda: rig.running() > 0, "it runs")
    stream.close()
    stream.close()
    until(lambda: rig.running() == 0, "it ended")


def test_a_pulled_cable_in_a_stream_is_lost_and_not_the_end(rig: Rig) -> None:
    with rig.connection.stream(["sleep", "600"]) as stream:
        assert stream.read(NOTHING_S) is None
        until(lambda: rig.running() > 0, "it runs")
        rig.cut()
        with pytest.raises(LostError):
            stream.read(WITHIN_S)


def test_streams_run_beside_commands_of_the_same_connection(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/beside"
    data = noise(300_000)
    connection.push(data, path)
    with ThreadPoolExecutor(3) as pool:
        started = threading.Barrier(3)

        def follow(stream: Stream) -> bytes:
            with stream:
                started.wait(WITHIN_S)
                seen = b""
                while more := stream.read(WITHIN_S):
                    seen += more
                return seen

        streams = [
            pool.submit(follow, connection.stream(["cat", path])) for _ in range(2)
        ]
        started.wait(WITHIN_S)
        for number in range(10):
            assert connection.run(["echo", str(number)]).text == f"{number}\n"
        assert [stream.result(WITHIN_S) == data for stream in streams] == [True, True]


def test_a_slow_command_does_not_take_a_stream_with_it(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/kept"
    connection.push(b"kept", path)
    with connection.stream(["tail", "-f", path]) as stream:
        with pytest.raises(SlowError):
            connection.run(["sleep", "600"], timeout_s=0.2)
        assert stream.read(WITHIN_S) == b"kept"
        assert stream.read(NOTHING_S) is None


# --- files ---


@pytest.mark.parametrize(
    "size", [0, 1, 65_535, 65_536, 65_537, 15 * 65_544 - 40, 1 << 20, 8 << 20]
)
def test_a_file_of_any_size_comes_back_equal(
    rig: Rig, size: int, tmp_path: Path
) -> None:
    connection, remote, local = (
        rig.connection,
        f"{rig.directory}/file",
        tmp_path / "file",
    )
    if (
        rig.variant != "v2"
    ):  # files do not go through the shell: a small packet is what differs
        size = min(size, 1 << 20)
    local.write_bytes(noise(size))
    assert connection.push(local, remote) == size
    assert connection.pull(remote, tmp_path / "back") == b""
    digests = [
        hashlib.sha256(path.read_bytes()).digest()
        for path in (local, tmp_path / "back")
    ]
    assert digests[0] == digests[1]
    assert connection.pull(remote) == local.read_bytes()


def test_a_pushed_program_runs_by_its_mode_and_only_by_it(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/program"
    connection.push(b"#!/bin/sh\necho ran\nexit 9\n", path, 0o755)
    done = connection.run([path])
    assert (done.rc, done.text) == (9, "ran\n")
    connection.push(b"#!/bin/sh\nexit 9\n", path, 0o644)
    assert connection.run([path]).rc == 126


def test_a_second_push_replaces_the_first_whole(rig: Rig) -> None:
    connection, path = rig.connection, f"{rig.directory}/replaced"
    connection.push(b"long " * 50_000, path)
    connection.push(b"short", path)
    assert connection.pull(path) == b"short"


@pytest.mark.parametrize(
    "name",
    ["a b", "a,b,33188", "it's", '"$HOME"', "$(x)", "-rf", "日本", "new\nline", "*"],
)
def test_any_file_name_is_only_a_name(rig: Rig, name: str) -> None:
    connection, path = rig.connection, f"{rig.directory}/{name}"
    connection.push(as_bytes(name), path)
    assert connection.run(["cat", path]).stdout == as_bytes(name)
    assert connection.pull(path) == as_bytes(name)


def test_a_file_that_is_not_there_is_refused_and_leaves_nothing_behind(
    rig: Rig, tmp_path: Path
) -> None:
    connection = rig.connection
    with pytest.raises(TransferError, match="No such file") as caught:
        connection.pull(f"{rig.directory}/nowhere", tmp_path / "target")
    assert not caught.value.no_space
    assert list(tmp_path.iterdir()) == []
    assert connection.run(["true"]).rc == 0


def test_a_directory_is_not_overwritten_by_a_file(rig: Rig) -> None:
    connection = rig.connection
    with pytest.raises(TransferError):
        connection.push(b"x", "/data/local/tmp")
    assert connection.run(["true"]).rc == 0


@pytest.mark.parametrize("size", [200_000, 8 << 20])
def test_a_full_storage_is_said_as_that(rig: Rig, size: int) -> None:
    connection = rig.connection
    connection.connect()
    rig.fill_storage(100_000)
    with pytest.raises(TransferError, match="full") as caught:
        connection.push(bytes(size), f"{rig.directory}/too-big", timeout_s=WITHIN_S)
    assert caught.value.no_space
    assert caught.value.advice
    assert connection.run(["true"]).rc == 0


@pytest.mark.parametrize("path", ["", "a\0b", "/" + "x" * 2000])
def test_what_is_no_path_is_refused(rig: Rig, path: str) -> None:
    with pytest.raises(AdbError, match="not a path"):
        rig.connection.push(b"x", path)


# --- how a device cannot be reached ---


def test_a_device_that_left_is_absent(rig: Rig) -> None:
    rig.leave()
    with pytest.raises(AbsentError) as caught:
        rig.connection.connect()
    assert caught.value.advice


def test_a_device_that_does_not_speak_is_offline(rig: Rig) -> None:
    rig.mute()
    with pytest.raises(OfflineError) as caught:
        rig.connection.connect()
    assert caught.value.advice


@pytest.mark.parametrize("service", ["shell", "sync"])
def test_a_refused_service_is_said_at_once_and_the_connection_stands(
    rig: Rig, service: str
) -> None:
    connection = rig.connection
    connection.connect()
    rig.refuse(service)
    with pytest.raises(RefusedError, match="refuse"):
        connection.run(["true"]) if service == "shell" else connection.push(
            b"x", f"{rig.directory}/x"
        )
    if service == "shell":
        assert connection.push(b"x", f"{rig.directory}/x") == 1
    else:
        assert connection.run(["true"]).rc == 0
