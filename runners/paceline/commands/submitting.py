"""Requests a run for CI, waits for its end and shows the server's verdicts.

All verdicts are the server's (I17). The exit status is 0 only for a run that the server calls `pass`; a
missing verdict, no answer and a timeout never count as one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from rich.table import Table

from paceline.api import ApiClient, UnreachableError
from paceline.commands.server_client import UNAUTHENTICATED, ServerClient, user_errors
from paceline.display import print_note
from paceline.errors import UserError

ParamValue = int | str

POLL_S = 1.0
PATIENCE_S = 60.0
"""How long to wait for an unreachable server while a run is under way."""

EXIT_STATUS = {"pass": 0, "fail": 2, "inconclusive": 3}
_NOT_ANNOUNCED = "Does an online agent announce it? See Targets and its agent.toml."
ADVICE = {
    "unauthenticated": UNAUTHENTICATED,
    "forbidden": "The token needs the scope `ingest`.",
    "not_found": _NOT_ANNOUNCED,
    "unknown_suite": _NOT_ANNOUNCED,
    "no_target": "Is an agent online that announces this suite?",
}


class RunRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of POST /runs."""

    suite: str
    commit: str | None = None
    branch: str | None = None
    base_commit: str | None = None
    benchmarks: list[str] | None = None
    targets: list[str] | None = None
    launches: int | None = None
    """None: what the server gives each kind of target."""
    rounds: int | None = None
    """None: 20, the server's default."""
    suppress: list[str] = []
    params: dict[str, list[ParamValue]] = {}
    knobs: dict[str, ParamValue] = {}


class FinishedRun(msgspec.Struct, frozen=True):
    """A run at its end, as the server reports it."""

    run: dict[str, Any]
    comparisons: list[dict[str, Any]]


def submit(
    server: str,
    token: str,
    request: RunRequest,
    timeout_s: float,
    preset: str | None = None,
) -> FinishedRun:
    """Requests a run and waits for its end; what `request` leaves open is taken from the suite's preset, if
    one is named. Raises UserError with what the server said, or when time is up."""
    api = ApiClient(server, token)
    with user_errors(ADVICE):
        if preset is not None:
            request = _with_preset(api, request, preset)
        body = {**msgspec.to_builtins(request), "trigger": "ci"}
        print_note(f"how long: {api.call('POST', '/runs/estimate', body)['words']}")
        run = api.call("POST", "/runs", body)
        base = f" against {run['base_commit'][:12]}" if run.get("base_commit") else ""
        print_note(f"run {run['id']} of {run['suite']} at {run['commit'][:12]}{base}")
        run = _wait(api, run["id"], timeout_s)
    comparisons = ServerClient(server, token).list_items(
        f"/runs/{run['id']}/comparisons"
    )
    return FinishedRun(run, comparisons)


def exit_status(done: FinishedRun) -> int:
    """0 pass · 2 fail · 3 inconclusive · 1 nothing was judged: failed, lost, expired, cancelled."""
    return EXIT_STATUS.get(str(done.run.get("outcome")), 1)


def comparison_table(done: FinishedRun) -> Table:
    """The comparisons as the server words them."""
    shown = Table("benchmark", "params", "arm", "verdict", "what the server says")
    for item in done.comparisons:
        params = ", ".join(f"{key}={value}" for key, value in item["params"].items())
        words = item.get("words") or item.get("reason") or ""
        shown.add_row(item["benchmark"], params, item["arm"], item["verdict"], words)
    return shown


def summary(done: FinishedRun) -> str:
    """The outcome with the server's reason, and the cause of each job without a verdict."""
    run = done.run
    lines = [f"run {run['id']}: {run['outcome']}"]
    if run.get("reason"):
        lines[0] += f": {run['reason']}"
    for job in run.get("jobs", []):
        if job["outcome"] not in EXIT_STATUS:
            parts = [job["target_name"], job["outcome"]]
            parts += [job.get("cause"), job.get("cause_detail")]
            lines.append(": ".join(part for part in parts if part))
    return "\n".join(lines)


def parse_params(options: Sequence[str]) -> dict[str, list[ParamValue]]:
    """`k=v1|v2`; whole numbers become integers, the server checks them against the suite."""
    return {
        key: [_value(item) for item in text.split("|")]
        for key, text in map(_pair, options)
    }


def parse_knobs(options: Sequence[str]) -> dict[str, ParamValue]:
    return {key: _value(text) for key, text in map(_pair, options)}


def _with_preset(api: ApiClient, request: RunRequest, name: str) -> RunRequest:
    suite = api.call("GET", f"/suites/{quote(request.suite, safe='')}")
    presets = {item["name"]: item for item in suite["presets"]}
    if name not in presets:
        known = ", ".join(presets) or "none"
        raise UserError(
            f"Suite {request.suite} has no preset {name!r}.", f"There are: {known}."
        )
    chosen = presets[name]
    return msgspec.structs.replace(
        request,
        benchmarks=request.benchmarks or chosen.get("benchmarks"),
        params=chosen["params"] | request.params,
        launches=request.launches or chosen.get("launches"),
        rounds=request.rounds or chosen.get("rounds"),
    )


def _wait(api: ApiClient, run_id: str, timeout_s: float) -> dict[str, Any]:
    deadline, unreachable_since = time.monotonic() + timeout_s, None
    pause, printed = threading.Event(), ""
    while True:
        try:
            run: dict[str, Any] = api.call("GET", f"/runs/{run_id}")
            unreachable_since = None
        except UnreachableError:
            unreachable_since = unreachable_since or time.monotonic()
            if time.monotonic() - unreachable_since > PATIENCE_S:
                raise
            pause.wait(POLL_S)
            continue
        if run["state"] in ("done", "failed", "cancelled"):
            return run
        states = ", ".join(
            f"{job['target_name']} {job['state']}" for job in run.get("jobs", [])
        )
        if states != printed:
            printed = states
            print_note(states or run["state"])
        if time.monotonic() > deadline:
            advice = "The run goes on; see it in the dashboard, or raise --timeout-s."
            raise UserError(
                f"Run {run_id} is not finished after {timeout_s:g} s ({states}).",
                advice,
            )
        pause.wait(POLL_S)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UserError(f"{text!r} is not NAME=VALUE.")
    return key, value


def _value(text: str) -> ParamValue:
    return int(text) if text.isascii() and text.isdigit() else text
