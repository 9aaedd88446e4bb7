"""The spool: what is on disk before it is sent, and what survives a kill at any byte."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from paceline.spool import Attempt, AttemptSpool, Spool, SpoolError

ATTEMPT = Attempt("job-1", 2, "token")


def seqs(spool: AttemptSpool, max_items: int = 500) -> list[int]:
    found = []
    while piece := spool.next_piece(max_items=max_items):
        found += [json.loads(item)["seq"] for item in piece.items]
        spool.acknowledge(piece)
    return found


def again(spool: AttemptSpool) -> AttemptSpool:
    return AttemptSpool(spool.directory, spool.attempt)


def test_items_come_out_in_order_with_gapless_numbers(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"kind": "log", "n": 0}, {"kind": "log", "n": 1}])
    spool.append([{"kind": "log", "n": 2}])
    assert spool.last_seq == 2
    assert seqs(spool, max_items=2) == [0, 1, 2]
    assert spool.drained
    assert spool.next_piece() is None


def test_a_restart_sends_what_was_not_acknowledged_and_goes_on_counting(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"n": n} for n in range(5)])
    piece = spool.next_piece(max_items=2)
    assert piece is not None
    spool.acknowledge(piece)
    later = again(spool)
    assert later.acknowledged_seq == 1
    later.append([{"n": 5}])
    assert seqs(later) == [2, 3, 4, 5]


def test_a_tail_torn_at_any_byte_is_cut_off_and_its_number_used_again(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"text": "first"}])
    whole = (spool.directory / "items.ndjson").stat().st_size
    spool.append([{"text": "secönd\n"}])
    data = (spool.directory / "items.ndjson").read_bytes()
    for cut in range(whole, len(data)):
        (spool.directory / "items.ndjson").write_bytes(data[:cut])
        (spool.directory / "acknowledged").unlink(missing_ok=True)
        later = again(spool)
        assert later.last_seq == 0
        later.append([{"text": "other"}])
        assert seqs(again(spool)) == [0, 1]


def test_a_damaged_line_is_never_sent(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"value": 1}, {"value": 2}])
    path = spool.directory / "items.ndjson"
    path.write_bytes(path.read_bytes().replace(b'"value":2', b'"value":3'))
    assert seqs(again(spool)) == [0]


def test_a_note_of_acknowledgement_ahead_of_the_file_is_not_believed(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"n": 0}])
    (spool.directory / "acknowledged").write_text("999999")
    later = again(spool)
    later.append([{"n": 1}])
    assert seqs(later)[-1] == 1


def test_the_lease_token_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    mode = (spool.directory / "attempt.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_undelivered_attempts_are_found_again_with_their_finish(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"n": 0}])
    spool.record_finish({"outcome": "done"})
    found = list(Spool(tmp_path).undelivered())
    assert [item.attempt for item in found] == [ATTEMPT]
    assert found[0].finish() == {"outcome": "done", "last_seq": 0}
    found[0].remove()
    assert not list(Spool(tmp_path).undelivered())


def test_what_is_set_aside_is_kept_with_its_reason_and_not_found_again(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        spool = Spool(tmp_path).create(ATTEMPT)
        spool.append([{"n": 0}])
        where = spool.set_aside("409 lease_lost")
        assert (where / "items.ndjson").stat().st_size > 0
        assert (where / "reason.txt").read_text() == "409 lease_lost\n"
    assert len(list((tmp_path / "aside").iterdir())) == 2
    assert not list(Spool(tmp_path).undelivered())


def aside_of(root: Path) -> list[Path]:
    return sorted((root / "aside").iterdir()) if (root / "aside").exists() else []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"job_id": 3}', None])
def test_items_whose_attempt_is_damaged_are_set_aside_never_deleted(
    tmp_path: Path, damage: bytes | None
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"n": 0}])
    items = (spool.directory / "items.ndjson").read_bytes()
    if damage is None:
        (spool.directory / "attempt.json").unlink()
    else:
        (spool.directory / "attempt.json").write_bytes(damage)
    assert not list(Spool(tmp_path).undelivered())
    (where,) = aside_of(tmp_path)
    assert (where / "items.ndjson").read_bytes() == items
    assert "attempt.json" in (where / "reason.txt").read_text()


def test_items_whose_attempt_cannot_be_read_now_wait_for_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"n": 0}])
    path = spool.directory / "attempt.json"
    data = path.read_bytes()
    path.unlink()
    path.mkdir()  # reading it is an OSError, for root, too
    assert not list(Spool(tmp_path).undelivered())
    assert "cannot be read now" in caplog.text
    assert not aside_of(tmp_path)
    path.rmdir()
    path.write_bytes(data)
    (found,) = Spool(tmp_path).undelivered()
    assert seqs(found) == [0]


def test_what_was_killed_before_its_first_item_leaves_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    (spool.directory / "attempt.json").write_bytes(b"")
    (spool.directory / "items.ndjson").touch()
    assert not list(Spool(tmp_path).undelivered())
    assert not spool.directory.exists()
    assert not aside_of(tmp_path)


def test_starting_over_sends_everything_again_even_after_a_restart(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path).create(ATTEMPT)
    spool.append([{"n": n} for n in range(3)])
    assert seqs(spool) == [0, 1, 2]
    spool.start_over()
    assert spool.acknowledged_seq == -1
    assert seqs(again(spool)) == [0, 1, 2]


FILL = """
import resource, sys
from pathlib import Path
from paceline.spool import Attempt, Spool, SpoolError
spool = Spool(Path(sys.argv[1])).create(Attempt("full", 1, "t"))
spool.append([{"n": 0}])
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
try:
    spool.append([{"n": n, "pad": "x" * 100} for n in range(200)])
except SpoolError as error:
    print(error)
spool.append([{"n": "fits"}])
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="file size limits are a POSIX service"
)
def test_a_disk_that_takes_no_more_loses_nothing_and_half_of_nothing(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "cannot grow" in done.stdout
    (spool,) = Spool(tmp_path).undelivered()
    assert seqs(spool) == [0, 1]


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_directory_that_cannot_be_written_is_a_spool_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SpoolError):
        Spool(tmp_path).create(ATTEMPT)
