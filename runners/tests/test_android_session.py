"""Tests of a device session: whole files, restored settings, conditions in time, nothing left behind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from paceline.adb.port import CommandResult, LostError
from paceline.devices import leftovers
from paceline.devices.leftovers import LeftOverError, RunJournal, RunNote
from paceline.devices.placing import BuiltFile, ListedFile, differences
from paceline.devices.scripts import argv
from paceline.executors.base import SessionWork, TargetError
from paceline.executors.claim import TargetClaim
from paceline.formats.declared import declared_line
from paceline.log_reports import LogListener
from paceline.stop import Stop, StopReason
from paceline.testing.fake_device import FakeDevice
from paceline.testing.hostile import HOSTILE, MARK
from paceline_contract.items import Conditions, ReportedItem

from .phone import Phone, Through
from .phone_jobs import Half, build, launch, let_workload_continue, measured, on_device
from .test_executors import Recorder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return build(tmp_path / "built")


# --- commands ---


def test_an_argument_reaches_the_workload_unchanged_whatever_characters_it_has(
    device: Phone, built: Path
) -> None:
    (built / "workload.sh").write_text(
        'printf "%s\\0" "$@" >"$TMPDIR/args"\ncat head foot\n'
    )
    names = [f"--params={text}" for text in HOSTILE]
    result: list[bytes] = []
    with device.executor().session(
        SessionWork("j", [built]), lambda _: None, Stop()
    ) as session:
        for number, part in enumerate(
            names[at : at + 64] for at in range(0, len(names), 64)
        ):
            plain = launch(session, built, number)
            spec = msgspec.structs.replace(plain, argv=[*plain.argv, *part])
            session.execute(spec, Recorder(), Stop())
            result += on_device(device, "args").read_bytes().split(b"\0")[:-1]
        assert result == [os.fsencode(name) for name in names]
        assert not list(device.workdir.rglob(MARK))


# --- files ---


def test_files_arrive_whole_and_executable_and_equal_files_are_sent_once(
    device: Phone, tmp_path: Path
) -> None:
    sides = []
    for name, more in (("base", "1"), ("head", "2"), ("again", "2")):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "lib" / "same").write_bytes(b"the same in all" * 1000)
        (tmp_path / name / "own").write_text(more)
        sides.append(tmp_path / name)
    pushed: list[str] = []
    device.wrap = lambda inner: Through(inner, pushed=pushed.append)
    with device.executor().session(
        SessionWork("j", sides), lambda _: None, Stop()
    ) as session:
        base, head, again = (session.location(side) for side in sides)
        assert head == again
        assert base != head
        assert len(str(base)) == len(str(head)), "no side has the longer path"
        for side, there in zip(sides, (base, head, again), strict=True):
            for name in ("lib/same", "own"):
                file = device.outside(there) / name
                assert file.read_bytes() == (side / name).read_bytes()
                assert file.stat().st_mode & 0o777 == 0o777, (
                    "adbd gives the owner's permissions to everybody"
                )
    assert len([path for path in pushed if path.endswith("same")]) == 1


def test_a_file_that_arrives_wrong_is_sent_again_and_never_run(
    device: Phone, built: Path
) -> None:
    spoilt_files: list[str] = []

    def spoil_once(remote: str, data: bytes) -> bytes:
        if remote.endswith("workload.sh") and not spoilt_files:
            spoilt_files.append(remote)
            return data[:-1] + b"#"
        return data

    device.wrap = lambda inner: Through(inner, push=spoil_once)
    outcome = measured(device, built, Half(lambda: let_workload_continue(device)))
    assert spoilt_files
    assert outcome.ok, outcome.detail


def test_a_device_that_spoils_every_file_runs_nothing(
    device: Phone, built: Path
) -> None:
    device.wrap = lambda inner: Through(
        inner,
        push=lambda remote, data: (
            data + b"#" if remote.endswith("workload.sh") else data
        ),
    )
    with pytest.raises(
        TargetError, match="was sent 3 times and still differs from what was built"
    ) as caught:
        measured(device, built, Recorder())
    size = (built / "workload.sh").stat().st_size
    assert f"expected a size of {size} bytes, found {size + 1}" in str(caught.value)
    assert "cable" not in str(caught.value)
    assert caught.value.cause == "placing_failed"


def test_differences_of_a_copy_name_the_expected_and_the_found_value(
    tmp_path: Path,
) -> None:
    built = BuiltFile(tmp_path / "file", 7, "aa")
    assert differences(built, ListedFile(7, 0o777, "aa")) == [], (
        "a real adbd makes 0777 of 0755"
    )
    assert differences(built, ListedFile(7, 0o700, "aa")) == []
    assert differences(built, None) == ["expected the file, found none of this name"]
    assert differences(built, ListedFile(7, 0o660, "aa")) == [
        "expected a mode that lets its owner execute it, found 0660"
    ]
    assert differences(built, ListedFile(9, 0o777, "bb")) == [
        "expected a size of 7 bytes, found 9",
        "expected the sha256 aa, found bb",
    ]
    assert differences(built, ListedFile(7, 0o777, "")) == [
        "expected the sha256 aa, found none, because the device could not compute it"
    ]


def test_a_push_that_is_cut_continues_with_the_file_it_had_reached(
    device: Phone, built: Path
) -> None:
    cuts: list[str] = []

    def cut_once(remote: str, data: bytes) -> bytes:
        if remote.endswith("workload.sh") and not cuts:
            cuts.append(remote)
            raise LostError("The cable was pulled.")
        return data

    device.wrap = lambda inner: Through(inner, push=cut_once)
    assert measured(device, built, Half(lambda: let_workload_continue(device))).ok
    assert cuts


def test_a_full_device_is_the_cause_of_the_failure(device: Phone, built: Path) -> None:
    (built / "large").write_bytes(bytes(200_000))
    device.peer.fill_storage(100_000)
    try:
        with pytest.raises(TargetError) as caught:
            measured(device, built, Recorder())
    finally:
        device.peer.empty_storage()
    assert caught.value.cause == "device_storage_full"


# --- what a session changes and reads ---


def test_a_launch_runs_on_the_fast_cluster_in_fixed_performance_mode_which_ends_with_it(
    device: Phone, built: Path
) -> None:
    seen: list[Conditions] = []
    during: list[bool] = []
    commands: list[Sequence[str]] = []

    def record_mode() -> None:
        during.append(device.peer.fixed_performance)
        let_workload_continue(device)

    stop = Stop()
    device.wrap = lambda inner: Through(inner, ran=commands.append)
    with device.executor().session(
        SessionWork("j", [built]), seen.append, stop
    ) as session:
        assert session.execute(launch(session, built), Half(record_mode), stop).ok
    assert during == [True]
    assert not device.peer.fixed_performance
    before = seen[0].values
    assert before["fixed_performance_mode"] == 1
    assert before["affinity"] == "c0", "two cores of the fastest kind"
    (started,) = [argv for argv in commands if "start" in argv]
    assert list(started[-4:-1]) == ["taskset", "c0", "sh"]
    (followed,) = [argv for argv in commands if "follow" in argv]
    assert list(followed[:2]) == ["taskset", "f"], "the follower runs on other cores"


def test_lines_logged_while_the_connection_was_cut_are_read_afterwards_with_their_launch(
    device: Phone, built: Path
) -> None:
    reported: list[ReportedItem] = []

    def lose() -> None:
        device.peer.log("Mine", "Said one.")
        device.peer.cut()
        device.peer.log("Mine", "Said two.")
        let_workload_continue(device)

    lines = [declared_line("mine.said", "Mine", "Said {what:text}.")]
    work, stop = (
        SessionWork("j", [built], listening=LogListener(lines, reported.append)),
        Stop(),
    )
    with device.executor().session(work, lambda _: None, stop) as session:
        assert session.execute(launch(session, built, 3), Half(lose), stop).ok
        device.peer.log("Mine", "Said three.")
    assert [(item.launch, item.fields["what"]) for item in reported] == [
        (3, "one"),
        (3, "two"),
        (None, "three"),
    ]


def test_a_device_without_fixed_performance_mode_is_measured_and_its_conditions_say_so(
    device: Phone, built: Path
) -> None:
    mode = ("cmd", "power", "set-fixed-performance-mode-enabled")
    device.peer.texts.update(
        {(*mode, "true"): (255, "Failed"), (*mode, "false"): (255, "Failed")}
    )
    seen: list[Conditions] = []
    try:
        with device.executor().session(SessionWork("j", [built]), seen.append, Stop()):
            pass
    finally:
        device.peer.texts.clear()
    assert seen[0].values["fixed_performance_mode"] == 0
    assert not RunJournal(device.state, device.peer.serial).notes


def test_a_session_that_an_error_ends_leaves_nothing_on_the_device(
    device: Phone, built: Path
) -> None:
    class NoDiskError(Exception):
        pass

    def fail() -> None:
        raise NoDiskError

    with pytest.raises(NoDiskError):
        measured(device, built, Half(fail))


def test_processes_that_a_workload_leaves_behind_are_killed_and_reported(
    device: Phone, tmp_path: Path
) -> None:
    (tmp_path / "built").mkdir()
    code = "cat head; setsid sleep 600 & cat foot\n"
    for name, text in (("workload.sh", code), ("head", ""), ("foot", "")):
        (tmp_path / "built" / name).write_text(text)
    sink = Recorder()
    measured(device, tmp_path / "built", sink)
    assert any(
        "killed 1 process(es) that the workload left behind" in line
        for line in sink.errors
    )


def test_a_workload_that_floods_its_output_is_ended(
    device: Phone, tmp_path: Path
) -> None:
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "workload.sh").write_text(
        "while :; do head -c 4000000 /dev/zero; done\n"
    )
    sink = Recorder()
    outcome = measured(device, tmp_path / "built", sink)
    assert outcome.cause == "workload_flooded", outcome.detail


def test_the_next_session_cleans_up_after_an_agent_that_was_killed(
    device: Phone, built: Path
) -> None:
    """The first session is abandoned without running its end, as after kill −9."""
    first = device.executor().session(
        SessionWork("j-1", [built]), lambda _: None, Stop()
    )
    first.__enter__()
    assert device.left()
    device.peer.cut()
    stop, sink = Stop(), Half(lambda: let_workload_continue(device))
    with device.executor().session(
        SessionWork("j-2", [built]), lambda _: None, stop
    ) as session:
        assert [
            note.run for note in RunJournal(device.state, device.peer.serial).notes
        ] == ["j-2"]
        assert session.execute(launch(session, built), sink, stop).ok
    first.__exit__(None, None, None)  # only so that this test leaves nothing open


def test_a_setting_noted_only_on_the_agents_disk_is_restored(
    device: Phone,
) -> None:
    attached = device.attached()
    journal = RunJournal(device.state, attached.serial)
    journal.note(RunNote("j-3", ["fixed_performance_mode"]))
    device.peer.fixed_performance = True
    cleaned = leftovers.clean(attached.connection, journal, attached.workdir)
    assert cleaned.settings == ["fixed_performance_mode"]
    assert not journal.notes


def test_a_list_of_leftovers_that_was_cut_off_is_not_taken_for_an_empty_one(
    tmp_path: Path,
) -> None:
    restarting = FakeDevice()
    restarting.answers[tuple(argv("leftovers", "/work"))] = CommandResult(137, b"")
    journal = RunJournal(tmp_path, restarting.serial)
    journal.note(RunNote("j-4", []))
    connection = restarting.connection()
    connection.connect()
    with pytest.raises(LeftOverError, match="cannot be listed: 137"):
        leftovers.clean(connection, journal, "/work")
    assert [note.run for note in journal.notes] == ["j-4"]


def test_building_for_a_device_takes_the_hosts_claim(device: Phone) -> None:
    executor = device.executor()
    host = TargetClaim("host-of-phone", device.state)
    with host.claim(Stop()), executor.building(stopped()) as got:
        assert not got, "a measurement of the host goes on"
    with executor.building(Stop()) as got:
        assert got
        with host.claim(stopped()) as other:
            assert not other
    with executor.claim(Stop()) as mine, device.executor().claim(stopped()) as second:
        assert mine
        assert not second


def stopped() -> Stop:
    stop = Stop()
    stop.set(StopReason.CANCELLED)
    return stop
