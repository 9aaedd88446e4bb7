"""The printed table folds notes and names revisions."""

from __future__ import annotations

from paceline_server.detect.table import describe_revision, fold_notes


def test_a_note_appears_once_with_its_first_row_and_the_number_of_others() -> None:
    absent = "30 of 30 blocks had a value that is not positive."
    notes = [
        ("bands=87 observed", absent),
        ("bands=87 cli", "slower"),
        ("bands=87 tracked", absent),
    ]
    notes.append(("bands=870 tracked", absent))
    assert fold_notes(notes) == [
        f"  bands=87 observed and 2 more: {absent}",
        "  bands=87 cli: slower",
    ]


def test_a_revision_without_a_clean_commit_is_named() -> None:
    commit = "0644c880f08c2cd8f175c5db7b3c5bed8403d54f"
    assert describe_revision(commit) == commit
    assert describe_revision(f"{commit}+dirty") == f"{commit} with uncommitted changes"
    assert describe_revision("unversioned") == "no commit"
