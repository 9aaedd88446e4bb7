"""Tests of the spool: items are on disk before they are sent, and survive a kill at any byte."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from paceline.spool import Attempt, AttemptSpool, Spool, SpoolError
from paceline_contract.attempts import FinishReport
from paceline_contract.items import UNNUMBERED, AnyItem, LogItem

ATTEMPT = Attempt("job-1", 2, "token")


def log(*lines: str) -> LogItem:
    return LogItem(seq=UNNUMBERED, stream="agent", lines=list(lines))


def seqs(spool: AttemptSpool, max_items: int = 500) -> list[int]:
    result = []
    while batch := spool.next_batch(max_items=max_items):
        result += [json.loads(item)["seq"] for item in batch.items]
        spool.acknowledge(batch)
    return result


def reloaded(spool: AttemptSpool) -> AttemptSpool:
    return AttemptSpool(spool.directory, spool.attempt)


def test_items_are_sent_in_order_with_gapless_numbers(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("0"), log("1")])
    spool.append([log("2")])
    assert spool.last_seq == 2
    assert seqs(spool, max_items=2) == [0, 1, 2]
    assert spool.is_drained
    assert spool.next_batch() is None


GOLDEN = json.loads(
    (
        Path(__file__).parents[2] / "native/protocol/vectors/items.golden.json"
    ).read_bytes()
)


@pytest.mark.parametrize(
    "vector", GOLDEN["accepted"], ids=lambda vector: vector["name"]
)
def test_golden_items_are_sent_unchanged_with_a_number(
    tmp_path: Path, vector: Any
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([msgspec.convert(vector["item"], AnyItem)])
    batch = spool.next_batch()
    assert batch is not None
    assert json.loads(batch.items[0]) == {**vector["item"], "seq": 0}


def test_after_a_restart_unacknowledged_items_are_sent_and_numbers_continue(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log(str(n)) for n in range(5)])
    batch = spool.next_batch(max_items=2)
    assert batch is not None
    spool.acknowledge(batch)
    later = reloaded(spool)
    assert later.acknowledged_seq == 1
    later.append([log("5")])
    assert seqs(later) == [2, 3, 4, 5]


def test_torn_last_line_is_cut_off_and_its_number_reused(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("first")])
    whole = (spool.directory / "items.ndjson").stat().st_size
    spool.append([log("secönd\n")])
    data = (spool.directory / "items.ndjson").read_bytes()
    for cut in range(whole, len(data)):
        (spool.directory / "items.ndjson").write_bytes(data[:cut])
        (spool.directory / "acknowledged").unlink(missing_ok=True)
        later = reloaded(spool)
        assert later.last_seq == 0
        later.append([log("other")])
        assert seqs(reloaded(spool)) == [0, 1]


def test_a_damaged_line_is_never_sent(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("one"), log("two")])
    path = spool.directory / "items.ndjson"
    path.write_bytes(path.read_bytes().replace(b'"two"', b'"too"'))
    assert seqs(reloaded(spool)) == [0]


def test_acknowledged_offset_beyond_the_file_is_ignored(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("0")])
    (spool.directory / "acknowledged").write_text("999999")
    later = reloaded(spool)
    later.append([log("1")])
    assert seqs(later)[-1] == 1


def test_lease_token_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    mode = (spool.directory / "attempt.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_undelivered_attempts_are_loaded_with_their_finish_report(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("0")])
    spool.record_finish(FinishReport("done", -1))
    result = list(Spool(tmp_path).load_undelivered())
    assert [item.attempt for item in result] == [ATTEMPT]
    assert result[0].finish() == FinishReport("done", 0)
    result[0].remove()
    assert not list(Spool(tmp_path).load_undelivered())


def test_spools_set_aside_keep_their_items_and_reason_and_are_not_loaded(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        spool = Spool(tmp_path).create(ATTEMPT)
        spool.append([log("0")])
        kept = spool.set_aside("409 lease_lost")
        assert (kept / "items.ndjson").stat().st_size > 0
        assert (kept / "reason.txt").read_text() == "409 lease_lost\n"
    assert len(list((tmp_path / "aside").iterdir())) == 2
    assert not list(Spool(tmp_path).load_undelivered())


def directories_set_aside(root: Path) -> list[Path]:
    return sorted((root / "aside").iterdir()) if (root / "aside").exists() else []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"job_id": 3}', None])
def test_items_of_an_unknown_attempt_are_set_aside(
    tmp_path: Path, damage: bytes | None
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("0")])
    items = (spool.directory / "items.ndjson").read_bytes()
    if damage is None:
        (spool.directory / "attempt.json").unlink()
    else:
        (spool.directory / "attempt.json").write_bytes(damage)
    assert not list(Spool(tmp_path).load_undelivered())
    (kept,) = directories_set_aside(tmp_path)
    assert (kept / "items.ndjson").read_bytes() == items
    assert "attempt.json" in (kept / "reason.txt").read_text()


def test_unreadable_spool_is_left_for_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log("0")])
    path = spool.directory / "attempt.json"
    data = path.read_bytes()
    path.unlink()
    path.mkdir()  # reading it is an OSError, for root, too
    assert not list(Spool(tmp_path).load_undelivered())
    assert "is left for the next start" in caplog.text
    assert not directories_set_aside(tmp_path)
    path.rmdir()
    path.write_bytes(data)
    (item,) = Spool(tmp_path).load_undelivered()
    assert seqs(item) == [0]


def test_spool_without_items_is_deleted(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    (spool.directory / "attempt.json").write_bytes(b"")
    (spool.directory / "items.ndjson").touch()
    assert not list(Spool(tmp_path).load_undelivered())
    assert not spool.directory.exists()
    assert not directories_set_aside(tmp_path)


def test_starting_over_sends_all_items_again_even_after_a_restart(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([log(str(n)) for n in range(3)])
    assert seqs(spool) == [0, 1, 2]
    spool.start_over()
    assert spool.acknowledged_seq == -1
    assert seqs(reloaded(spool)) == [0, 1, 2]


FILL = """
import resource, sys
from pathlib import Path
from paceline.spool import Attempt, Spool, SpoolError
from paceline_contract.items import UNNUMBERED, LogItem
def log(*lines):
    return LogItem(seq=UNNUMBERED, stream="agent", lines=list(lines))
spool = Spool(Path(sys.argv[1])).create(Attempt("full", 1, "t"))
spool.append([log("0")])
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
try:
    spool.append([log(str(n), "x" * 100) for n in range(200)])
except SpoolError as error:
    print(error)
spool.append([log("fits")])
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="file size limits are a POSIX service"
)
def test_full_disk_refuses_whole_appends_and_keeps_earlier_items(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "cannot append" in done.stdout
    (spool,) = Spool(tmp_path).load_undelivered()
    assert seqs(spool) == [0, 1]


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere"
)
def test_unwritable_directory_raises_a_spool_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SpoolError):
        Spool(tmp_path).create(ATTEMPT)
