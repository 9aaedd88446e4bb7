"""Tests of the simulated device's root, processes, tools and boots."""

from __future__ import annotations

import itertools
import os
import platform
import shutil
import struct
import subprocess
from pathlib import Path

import psutil
import pytest
from paceline.testing.adbd import Peer
from paceline.testing.adbd.scenarios import Conditions
from paceline_contract.testing.waiting import WITHIN_S

from .client import Client, Files
from .conftest import StartPeer, connected, needs_namespaces, until, wait_for_return

DETACH = "setsid sleep 308 >/dev/null 2>&1 </dev/null & echo $!"


def test_the_device_has_a_root_of_its_own(
    peer: Peer, client: Client, tmp_path: Path
) -> None:
    needs_namespaces(peer)
    assert (
        client.plain("ls /data/local; cd /data/local/tmp && pwd")
        == b"tmp\n/data/local/tmp\n"
    )
    assert client.shell(f"ls {tmp_path}")[0] != 0, (
        "the host's files are not the device's"
    )
    client.plain("echo inside >/data/local/tmp/file")
    assert (peer.files / "data/local/tmp/file").read_text() == "inside\n"


def test_no_command_of_the_device_changes_the_host(peer: Peer, client: Client) -> None:
    """Not even as root and with `rm -rf /`: the device may only read files of the host."""
    needs_namespaces(peer)
    for place in ("/usr", "/etc", "/bin", "/usr/bin"):
        assert b"Read-only file system" in client.shell(f"touch {place}/written")[2]
    assert client.plain("ls /dev").split() == sorted(
        [
            b"fd",
            b"full",
            b"null",
            b"ptmx",
            b"pts",
            b"random",
            b"shm",
            b"tty",
            b"urandom",
            b"zero",
        ]
    )
    assert client.plain("echo out >/dev/null; head -c 3 /dev/zero") == bytes(3)


def test_the_device_sees_its_own_processes_only(peer: Peer, client: Client) -> None:
    needs_namespaces(peer)
    pid = int(client.plain(DETACH))
    assert client.shell(f"kill -0 {pid}")[0] == 0
    assert client.shell("set -- /proc/[0-9]*; [ $# -lt 10 ]")[0] == 0
    assert client.shell(f"kill -0 {os.getpid()}")[0] != 0
    until(lambda: len(peer.processes()) == 1)
    client.plain(f"kill -9 {pid}")
    until(lambda: peer.processes() == [])


def test_without_namespaces_the_same_commands_work_by_real_paths(
    start: StartPeer,
) -> None:
    peer = start(mode="prefix")
    assert peer.workdir == f"{peer.files}/data/local/tmp/paceline"
    with connected(peer) as client:
        assert (
            client.plain("getprop debug.paceline.workdir").decode()
            == f"{peer.workdir}\n"
        )
        files = Files(client)
        assert (
            files.push(f"{peer.workdir}/run", b"#!/bin/sh\necho ran\n", 0o100755) == ""
        )
        assert files.pull("/data/local/tmp/paceline/run") == files.pull(
            f"{peer.workdir}/run"
        )
        assert client.shell(f"{peer.workdir}/run")[:2] == (0, b"ran\n")
        assert b"Current Battery Service state:" in client.plain("dumpsys battery")
        client.plain(DETACH)
        until(lambda: len(peer.processes()) == 1)
        peer.reboot()
    assert peer.processes() == []


def test_a_real_phone_has_no_workdir_property(peer: Peer, client: Client) -> None:
    needs_namespaces(peer)
    assert client.plain("getprop debug.paceline.workdir") == b"\n"


@pytest.mark.parametrize("mode", ["namespace", "prefix"])
def test_nothing_of_a_device_outlives_its_peer(
    tmp_path: Path, start: StartPeer, mode: str
) -> None:
    needs_namespaces(start())
    with Peer(tmp_path / "gone", trust=None, mode=mode) as peer:  # type: ignore[arg-type]
        with connected(peer) as client:
            client.plain(DETACH)
        until(lambda: len(peer.processes()) == 1)
        processes = [psutil.Process(pid) for pid in peer.processes()]
    assert psutil.wait_procs(processes, timeout=WITHIN_S)[1] == []
    assert not [
        mount
        for mount in Path("/proc/self/mounts").read_text().split()
        if str(tmp_path) in mount
    ]


def test_a_reboot_ends_processes_and_connections_and_has_a_new_boot_id(
    peer: Peer,
) -> None:
    before, address = peer.boot_id, peer.address
    with connected(peer) as client:
        client.plain(DETACH)
        client.plain(
            "echo kept >/data/local/tmp/file 2>/dev/null || echo kept >$TMPDIR/file"
        )
        client.open("reboot:")
        with pytest.raises(EOFError):
            client.receive()
    with wait_for_return(peer) as client:
        assert peer.processes() == []
        assert peer.boot_id != before
        assert (peer.files / "data/local/tmp/file").read_text() == "kept\n"
        if peer.device.mode == "namespace":
            assert (
                client.plain("cat /proc/sys/kernel/random/boot_id").decode().strip()
                == peer.boot_id
            )
    assert peer.address == address


def test_the_shell_may_reboot_too(peer: Peer) -> None:
    before = peer.boot_id
    with connected(peer) as client:
        client.open("exec:reboot; sleep 309")
        with pytest.raises(EOFError):
            client.drain()
    assert peer.boot_id != before


def test_root_is_for_debuggable_builds(peer: Peer) -> None:
    with connected(peer) as client:
        assert (
            client.open("root:").rest()
            == b"adbd cannot run as root in production builds\n"
        )
        peer.props["ro.debuggable"] = "1"
        assert client.open("root:").read_until(b"\n") == b"restarting adbd as root\n"
        with pytest.raises(EOFError):
            client.drain()
    with connected(peer) as client:
        assert client.open("root:").rest() == b"adbd is already running as root\n"


# --- tools ---


def test_properties_are_read_and_set(peer: Peer, client: Client) -> None:
    listed = client.plain("getprop").decode()
    assert (
        "[ro.product.cpu.abi]: [x86_64]\n[ro.product.cpu.abilist]: [x86_64,x86]\n"
        in listed
    )
    assert (
        client.plain("getprop ro.build.version.sdk; getprop no.such; getprop no.such 7")
        == b"34\n\n7\n"
    )
    assert client.shell("setprop debug.mine 'two\nlines'")[0] == 0
    assert b"[debug.mine]: [two\nlines]\n" in client.plain("getprop")
    assert client.shell("setprop ro.serialno X")[0] == 1
    assert peer.props["ro.serialno"] == "SIM0001"


def test_scripted_texts_come_first_and_may_be_computed(
    peer: Peer, client: Client
) -> None:
    counted = itertools.count(1)
    peer.texts["dumpsys", "thermalservice"] = "scripted\n"
    peer.texts["dumpsys", "counted"] = lambda: f"{next(counted)}\n"
    peer.texts["getprop", "ro.serialno"] = (3, "refused\n")
    assert (
        client.plain("dumpsys thermalservice; dumpsys counted; dumpsys counted")
        == b"scripted\n1\n2\n"
    )
    assert client.shell("getprop ro.serialno")[:2] == (3, b"refused\n")
    assert client.plain("dumpsys nothing") == b"Can't find service: nothing\n"


def test_a_long_text_comes_whole(peer: Peer, client: Client) -> None:
    peer.texts["dumpsys", "long"] = "line of text\n" * 50_000
    assert client.plain("dumpsys long | wc -l").split() == [b"50000"]
    assert client.plain("dumpsys long | head -n 1") == b"line of text\n"


def test_calls_are_written_down_with_their_arguments(
    peer: Peer, client: Client
) -> None:
    client.plain(
        "settings put global 'a key' 'two\nlines'; cmd power set-fixed-performance-mode-enabled true"
    )
    assert peer.calls == [
        ["settings", "put", "global", "a key", "two\nlines"],
        ["cmd", "power", "set-fixed-performance-mode-enabled", "true"],
    ]
    assert (peer.settings, peer.fixed_performance) == (
        {("global", "a key"): "two\nlines"},
        True,
    )


def test_settings_are_kept_and_deleted(peer: Peer, client: Client) -> None:
    assert (
        client.plain(
            "settings get global x; settings put global x 1; settings get global x"
        )
        == b"null\n1\n"
    )
    assert (
        client.plain("settings delete global x; settings get global x")
        == b"Deleted 1 rows\nnull\n"
    )
    assert client.shell("cmd nosuch thing")[0] == 20
    client.plain("svc power stayon usb")
    assert peer.settings["global", "stay_on_while_plugged_in"] == "2"


def test_reports_follow_the_conditions(peer: Peer, client: Client) -> None:
    peer.fixed = Conditions(
        skin_c=46.0, battery_c=38.5, battery_percent=20, charging=False
    )
    thermal = client.plain("dumpsys thermalservice").decode()
    current = thermal.split("Current temperatures from HAL:")[1]
    assert "Thermal Status: 3\n" in thermal
    assert "Temperature{mValue=46.0, mType=3, mName=VIRTUAL-SKIN, mStatus=3}" in current
    battery = client.plain("dumpsys battery").decode()
    assert "  level: 20\n" in battery
    assert "  temperature: 385\n" in battery
    peer.step()
    assert (
        peer.files / "sys/class/thermal/thermal_zone4/temp"
    ).read_text() == "46000\n"


def test_a_follower_sees_lines_as_they_are_logged(peer: Peer, client: Client) -> None:
    peer.log("Before", "old")
    stream = client.open("exec:logcat -v threadtime -T 1 Paceline:D *:S")
    assert stream.read_until(b"\n") == b"--------- beginning of main\n"
    peer.log("Other", "not asked for")
    peer.log("Paceline", "too quiet", level="V")
    peer.log("Paceline", "first\nsecond", level="D", pid=77)
    first, second = stream.read_until(b"\n").decode(), stream.read_until(b"\n").decode()
    assert first.endswith("    77    77 D Paceline: first\n")
    assert second.endswith("D Paceline: second\n")
    stream.close()


def test_programs_log_and_the_log_is_cleared(peer: Peer, client: Client) -> None:
    client.plain("log -t Mine -p w several words")
    assert b" W Mine    : several words\n" in client.plain("logcat -d")
    assert client.plain("logcat -c; logcat -d") == b"--------- beginning of main\n"


def test_pinning_is_real_and_folded_onto_the_cores_there_are(client: Client) -> None:
    if not shutil.which("taskset"):
        pytest.skip("taskset is Linux's")
    host = sorted(os.sched_getaffinity(0))
    allowed = "grep Cpus_allowed_list /proc/self/status | cut -f2"
    assert client.plain(f"taskset 1 sh -c '{allowed}'").decode().strip() == str(host[0])
    assert client.shell(f"taskset c0 sh -c '{allowed}'")[0] == 0
    assert client.shell("taskset f0 sh -c 'exit 7'")[0] == 7


def test_a_scripted_text_may_pull_the_cable(peer: Peer) -> None:
    def pulled_file() -> str:
        peer.cut()
        return "too late"

    peer.texts["dumpsys", "cable"] = pulled_file
    with connected(peer) as client:
        stream = client.open("exec:dumpsys cable; sleep 311")
        with pytest.raises(EOFError):
            stream.rest()


def test_a_command_killed_while_it_asks_does_not_stop_the_others(
    peer: Peer, client: Client
) -> None:
    peer.texts["dumpsys", "stuck"] = "x" * 200_000
    stream = client.open("shell,v2,raw:dumpsys stuck | (sleep 310; cat)")
    until(lambda: peer.calls)
    stream.close()
    assert client.plain("getprop ro.serialno") == b"SIM0001\n"


def test_clusters_and_clocks_are_those_of_a_phone(peer: Peer, client: Client) -> None:
    needs_namespaces(peer)
    text = client.plain(
        "cd /sys/devices/system/cpu; cat online cpu7/cpufreq/related_cpus cpu5/cpufreq/cpuinfo_max_freq"
    )
    assert text == b"0-7\n6 7\n2253000\n"
    policies = client.plain(
        "cd /sys/devices/system/cpu/cpufreq; cat policy*/related_cpus"
    ).splitlines()
    assert policies == [b"0 1 2 3", b"4 5", b"6 7"]


# --- arm64 ---

ARM64_CODE = struct.pack(
    "<6I",
    0xD2800BA8,  # mov x8, #93 (exit)
    0xD2800540,  # mov x0, #42
    0xD4000001,  # svc #0
    0,
    0,
    0,
)


def arm64_program() -> bytes:
    """The smallest static arm64 program: it ends with 42."""
    at = 0x400000
    header = struct.pack(
        "<4sBBBBB7xHHIQQQIHHHHHH",
        b"\x7fELF",
        2,
        1,
        1,
        0,
        0,
        2,
        183,
        1,
        at + 120,
        64,
        0,
        0,
        64,
        56,
        1,
        0,
        0,
        0,
    )
    size = 120 + len(ARM64_CODE)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, at, at, size, size, 0x10000)
    return header + segment + ARM64_CODE


def test_an_arm64_device_runs_arm64_programs(start: StartPeer) -> None:
    peer = start(abi="arm64-v8a")
    if not peer.device.runs_arm64:
        pytest.skip(
            "this kernel (before Linux 6.7) registers no qemu for arm64 in a namespace"
        )
    with connected(peer) as client:
        assert (
            Files(client).push(f"{peer.workdir}/program", arm64_program(), 0o100755)
            == ""
        )
        assert client.shell(f"{peer.workdir}/program")[0] == 42
        assert client.plain("getprop ro.product.cpu.abi") == b"arm64-v8a\n"
        if peer.device.mode == "namespace":
            assert client.plain("grep -c 'CPU part' /proc/cpuinfo") == b"8\n"


def test_running_arm64_programs_leaves_the_host_as_it_was(
    start: StartPeer, tmp_path: Path
) -> None:
    peer = start(abi="arm64-v8a")
    needs_namespaces(peer)
    if platform.machine() == "aarch64" or any(
        Path("/proc/sys/fs/binfmt_misc").glob("qemu-aarch64*")
    ):
        pytest.skip("this Linux host runs arm64 programs by itself")
    program = tmp_path / "program"
    program.write_bytes(arm64_program())
    program.chmod(0o755)
    with pytest.raises(OSError, match="Exec format error"):
        subprocess.run([program], check=False)
