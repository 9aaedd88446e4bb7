"""Tests of shell, shell v2 and exec streams: flow control, and what a closed stream does to its command."""

from __future__ import annotations

import struct

import psutil
import pytest
from paceline.testing.adbd import Peer

from .client import Client
from .conftest import StartPeer, connected, until


def test_shell_v2_tells_outputs_and_exit_code_apart(client: Client) -> None:
    assert client.shell("echo out; echo err >&2; exit 5") == (5, b"out\n", b"err\n")
    assert client.shell("kill -15 $$")[0] == 128 + 15
    assert client.shell("no-such-command")[0] == 127


def test_shell_without_v2_merges_outputs_and_has_no_exit_code(client: Client) -> None:
    assert client.plain("echo out; echo err >&2; exit 5") == b"out\nerr\n"
    assert client.open("exec:printf 'a\\nb'; exit 5").rest() == b"a\nb"


def test_bytes_pass_unchanged_in_both_directions(client: Client) -> None:
    every = bytes(range(256)) * 300
    stream = client.open("exec:head -c 76800 | cat")
    stream.write(every)
    assert stream.rest() == every


def test_shell_v2_carries_stdin_to_its_end(client: Client) -> None:
    stream = client.open("shell,v2,raw:cat; exit 4")
    stream.write(struct.pack("<BI", 0, 3) + b"abc" + struct.pack("<BI", 4, 0))
    assert (
        stream.rest()
        == struct.pack("<BI", 1, 3) + b"abc" + struct.pack("<BI", 3, 1) + b"\x04"
    )


def test_an_interactive_shell_has_a_terminal(client: Client) -> None:
    stream = client.open("shell,v2,pty:")
    line = b"test -t 0 && echo terminal; exit 6\n"
    stream.write(struct.pack("<BI", 0, len(line)) + line)
    text = stream.rest()
    assert b"terminal\r\n" in text
    assert text.endswith(struct.pack("<BI", 3, 1) + b"\x06")


def test_a_stream_lasts_while_a_child_holds_its_output(
    peer: Peer, client: Client
) -> None:
    stream = client.open(
        "exec:mkfifo $TMPDIR/go; (read line <$TMPDIR/go; echo $line) & echo first"
    )
    assert stream.read_until(b"\n") == b"first\n"
    with connected(peer) as other:
        other.plain("echo second >$TMPDIR/go")
    assert stream.rest() == b"second\n"


def test_many_streams_share_one_connection(client: Client) -> None:
    streams = [
        client.open(f"exec:read line; echo {number} $line") for number in range(5)
    ]
    remotes = {stream.remote for stream in streams}
    assert len(remotes) == 5
    for number, stream in reversed(list(enumerate(streams))):
        stream.write(b"heard\n")
        assert stream.rest() == f"{number} heard\n".encode()


def test_the_peer_writes_nothing_more_before_it_hears_okay(client: Client) -> None:
    stream = client.open("exec:yes | head -c 3000000")
    first = client.expect("WRTE")
    client.send("OPEN", 77, 0, b"exec:echo other\x00")
    assert [client.receive().name for _ in range(2)] == ["OKAY", "WRTE"]
    client.send("OKAY", stream.local, stream.remote)
    second = client.expect("WRTE")
    assert (first.arg0, second.arg0) == (stream.remote, stream.remote)


def test_a_client_that_does_not_wait_for_okay_is_noticed(peer: Peer) -> None:
    with connected(peer) as client:
        stream = client.open(
            "exec:sleep 100"
        )  # reads nothing: the second stays in the peer, unacknowledged
        for _ in range(3):
            client.send("WRTE", stream.local, stream.remote, bytes(400_000))
        with pytest.raises(EOFError):
            client.drain()
    assert "before OKAY" in peer.violations[0]


def test_a_payload_beyond_what_was_agreed_is_noticed(peer: Peer) -> None:
    with connected(peer, largest=4096) as client:
        stream = client.open("exec:cat >/dev/null")
        client.send("WRTE", stream.local, stream.remote, bytes(4097))
        with pytest.raises(EOFError):
            client.receive()
    assert peer.violations == ["WRTE of 4097 bytes, agreed were 4096"]


def test_on_an_unknown_stream_a_write_is_dropped_and_an_okay_closed(
    client: Client,
) -> None:
    """`handle_packet`: A_WRTE looks for the socket and says nothing, A_OKAY answers A_CLSE."""
    client.send("WRTE", 5, 99, b"x")
    client.send("OKAY", 6, 98)
    closed = client.expect("CLSE")
    assert (closed.arg0, closed.arg1) == (98, 6)


def test_a_client_that_greets_again_begins_anew(client: Client) -> None:
    """`handle_new_connection` goes offline first, which closes every socket."""
    client.open("exec:read line")
    client.connect()
    assert client.plain("echo again") == b"again\n"


def test_a_command_that_closed_its_outputs_is_not_hung_up_on(
    peer: Peer, client: Client
) -> None:
    """`Subprocess::PassDataStreams` has returned by then; only `WaitForExit` runs."""
    stream = client.open(
        "shell,v2,raw:echo up; exec sleep 306 </dev/null >/dev/null 2>&1"
    )
    until(lambda: living_processes(peer, "306"))
    stream.read_until(b"up\n")
    client.plain("true")
    stream.close()
    assert client.plain("echo next") == b"next\n"
    assert living_processes(peer, "306")


@pytest.mark.parametrize(
    "service", ["jdwp", "tcp:5555", "reverse:forward:a;b", "", "sync", "shell"]
)
def test_an_unknown_service_is_refused(client: Client, service: str) -> None:
    with pytest.raises(PermissionError):
        client.open(service)


def test_a_modern_device_without_shell_v2_refuses_it(start: StartPeer) -> None:
    peer = start(features=frozenset({"cmd"}))
    with connected(peer) as client:
        with pytest.raises(PermissionError):
            client.open("shell,v2,raw:true")
        assert client.plain("echo still") == b"still\n"


# --- hanging up ---


def living_processes(peer: Peer, name: str) -> list[int]:
    result = []
    for pid in peer.processes():
        try:
            command = psutil.Process(pid).cmdline()
        except psutil.Error:
            continue
        if command[:2] == ["sleep", name]:
            result.append(pid)
    return result


def test_hanging_up_on_shell_v2_ends_the_command_but_not_what_it_detached(
    peer: Peer, client: Client
) -> None:
    stream = client.open(
        "shell,v2,raw:setsid sleep 301 >/dev/null 2>&1 </dev/null & echo up; exec sleep 302"
    )
    stream.read_until(b"up\n")
    until(lambda: living_processes(peer, "301") and living_processes(peer, "302"))
    stream.close()
    until(lambda: not living_processes(peer, "302"))
    assert living_processes(peer, "301")


def test_hanging_up_without_shell_v2_leaves_the_command_alone(
    peer: Peer, client: Client
) -> None:
    stream = client.open("exec:echo up; exec sleep 303")
    stream.read_until(b"up\n")
    stream.close()
    assert client.plain("echo next") == b"next\n"
    assert living_processes(peer, "303")


def test_a_cut_cable_is_a_hang_up(peer: Peer) -> None:
    with connected(peer) as client:
        stream = client.open(
            "shell,v2,raw:setsid sleep 304 >/dev/null 2>&1 </dev/null & echo up; exec sleep 305"
        )
        stream.read_until(b"up\n")
        until(lambda: living_processes(peer, "304") and living_processes(peer, "305"))
        peer.cut()
        with pytest.raises(EOFError):
            client.receive()
    assert peer.connections == 0
    until(lambda: not living_processes(peer, "305"))
    assert living_processes(peer, "304")


def test_a_shell_is_a_session_of_its_own(client: Client) -> None:
    """`kill 0` of one command must not reach another's, nor the device's first process."""
    other = client.open("exec:read line; echo $line")
    assert client.shell("trap '' TERM; kill 0; echo on")[:2] == (0, b"on\n")
    other.write(b"unharmed\n")
    assert other.rest() == b"unharmed\n"
