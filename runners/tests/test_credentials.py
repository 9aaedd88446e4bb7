"""Credentials and addresses from variables and options: mended where that is safe, never printed."""

from __future__ import annotations

import os
import subprocess

import pytest
from paceline.credentials import check_address, check_credential
from paceline.errors import UserError
from paceline.testing import commands
from paceline.testing.fake_server import FakeServer

SECRET = "plt_" + "a1b2C3d4_-" * 4

COMMANDS = {
    "submit": ["submit", "mine"],
    "targets": ["targets", "list"],
    "alerts": ["alerts", "list"],
}


@pytest.mark.parametrize("around", ["{}\n", "\r\n{}", " {}\t"])
def test_white_space_around_a_credential_and_an_address_is_left_out(
    around: str,
) -> None:
    assert check_credential(around.format(SECRET)) == SECRET
    assert check_address(around.format("https://p.example:8443/")) == (
        "https://p.example:8443"
    )


@pytest.mark.parametrize("wrong", ["“{}”", "{}\n{}", "\ufeff{}", "Bearer {}"])
@pytest.mark.parametrize("command", ["submit", "targets", "alerts"])
def test_a_token_that_cannot_be_one_is_refused_by_the_place_of_its_character(
    server: FakeServer, wrong: str, command: str
) -> None:
    done = commands.run(
        *COMMANDS[command],
        "--server",
        server.url,
        env={**os.environ, "PACELINE_TOKEN": wrong.format(SECRET, SECRET)},
    )
    assert done.returncode == 1
    assert "has a character that no token has, at place" in done.stderr
    assert_nothing_is_told(done.stdout + done.stderr)


@pytest.mark.parametrize("wrong", ["{}\x00", "\x7f{}", "{}é", ""])
def test_what_only_a_file_can_hold_is_refused_too(wrong: str) -> None:
    with pytest.raises(UserError) as refused:
        check_credential(wrong.format(SECRET))
    assert_nothing_is_told(str(refused.value))


@pytest.mark.parametrize(
    "address",
    [
        SECRET,
        f"https://me:{SECRET}@p.example",
        f"https://{SECRET}@p.example",
        "https://p.example/\u2028x",
        "https://p .example",
        "https://p.example:port",
        "https://[::1",
        "https://",
        "ftp://p.example",
        "",
    ],
)
def test_an_address_that_cannot_be_one_is_refused_without_a_word_of_it(
    address: str,
) -> None:
    done = list_targets(address)
    assert done.returncode == 1
    assert "address" in done.stderr
    assert_nothing_is_told(done.stdout + done.stderr)


def test_an_enrolment_code_that_cannot_be_one_is_never_printed(
    server: FakeServer, tmp_path: object
) -> None:
    done = commands.run(
        "agent",
        "--server",
        server.url + "\n",
        "--data",
        str(tmp_path),
        env={**os.environ, "PACELINE_ENROL": f"„{SECRET}“"},
    )
    assert done.returncode == 1
    assert "enrolment code has a character" in done.stderr
    assert_nothing_is_told(done.stdout + done.stderr)


def test_what_a_library_says_of_a_request_reaches_nobody(server: FakeServer) -> None:
    """A port at which nobody listens is an error of the network, and that is said; the token is not."""
    done = list_targets("http://127.0.0.1:1")
    assert done.returncode == 1
    assert "The server cannot be reached: 127.0.0.1:1" in done.stderr
    assert_nothing_is_told(done.stdout + done.stderr)


def list_targets(address: str) -> subprocess.CompletedProcess[str]:
    options = ["--token", SECRET, "--server", address]
    return commands.run("targets", "list", *options, env={**os.environ})


def assert_nothing_is_told(output: str) -> None:
    assert "Traceback" not in output
    for start in range(len(SECRET) - 8):
        assert SECRET[start : start + 8] not in output
