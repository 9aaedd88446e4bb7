"""One repository is one location however it is written, and no text leads out of a granted one."""

from __future__ import annotations

import pytest
from paceline_contract.locations import (
    LocationError,
    canonical_location,
    canonical_pattern,
    check_manifest_path,
    matches,
)


@pytest.mark.parametrize(
    "written",
    [
        "https://git.example.org/team/mine.git",
        "https://user:secret@GIT.example.org:443/team/mine/",
        "ssh://git@git.example.org/team/mine.git",
        "git@git.example.org:team/mine.git",
        "git.example.org/team/mine",
    ],
)
def test_one_repository_has_one_location_without_anybodys_secret(written: str) -> None:
    assert canonical_location(written) == "git.example.org/team/mine"


@pytest.mark.parametrize(
    ("written", "location"),
    [
        ("/src/mine/", "/src/mine"),
        ("file:///src/mine", "/src/mine"),
        ("c:\\src\\mine", "C:/src/mine"),
        ("https://git.example.org:8443/mine", "git.example.org:8443/mine"),
    ],
)
def test_paths_and_ports_stay_apart(written: str, location: str) -> None:
    assert canonical_location(written) == location
    assert canonical_location(location) == location


@pytest.mark.parametrize(
    "written",
    [
        "",
        "../../etc/passwd",
        "/src/../etc",
        "/src//mine",
        "mine",
        "https://git.example.org/team/../other/mine",
        "https://git.example.org/team/%2e%2e/other/mine",
        "https://git.example.org/",
        "ext::sh -c touch% /tmp/x",
        "/src/mi\nne",
        "/src/*",
        "https://git.exämple.org/mine",
    ],
)
def test_what_leads_elsewhere_is_no_location(written: str) -> None:
    with pytest.raises(LocationError, match="expected an absolute path"):
        canonical_location(written)


@pytest.mark.parametrize(
    ("pattern", "location", "is_granted"),
    [
        ("https://git.example.org/team/*", "git.example.org/team/mine", True),
        ("https://git.example.org/team/*", "git.example.org/team/sub/mine", False),
        ("https://git.example.org/team/**", "git.example.org/team/sub/mine", True),
        ("git@git.example.org:team/*", "git.example.org/other/mine", False),
        ("git.example.org/team", "git.example.org/teams", False),
        ("https://git.example.org/**", "gitXexample.org/mine", False),
        ("/src/*", "/src/mine", True),
        ("/src/*", "/etc/passwd", False),
        ("*", "/src/mine", True),
        ("*", "git.example.org/mine", True),
    ],
)
def test_a_pattern_grants_what_it_names(
    pattern: str, location: str, is_granted: bool
) -> None:
    assert matches(location, [canonical_pattern(pattern)]) is is_granted


@pytest.mark.parametrize(
    "path",
    ["../../etc/passwd", "/etc/passwd", "a/../b", "a//b", "a\\b", "c:/x", "", "a/\x00"],
)
def test_a_manifest_lies_inside_its_repository(path: str) -> None:
    with pytest.raises(LocationError, match="no file of a repository"):
        check_manifest_path(path)
    check_manifest_path("bench/suite.toml")
