"""detect.table: what a person reads, and how often."""

from __future__ import annotations

from paceline_server.detect.table import fold_notes, revision_in_words


def test_a_text_is_said_once_with_the_first_of_its_rows_and_how_many_more() -> None:
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


def test_what_was_measured_without_a_commit_of_its_own_is_said() -> None:
    commit = "0644c880f08c2cd8f175c5db7b3c5bed8403d54f"
    assert revision_in_words(commit) == commit
    assert revision_in_words(f"{commit}+dirty") == f"{commit} with uncommitted changes"
    assert revision_in_words("unversioned") == "no commit"
