"""Requests a run for CI, waits for its end and shows the server's verdicts.

All verdicts are the server's (I17). The exit status is 0 only for a run that the server calls `pass`; a
missing verdict, no answer and a timeout never count as one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from rich.table import Table

from paceline.api import ApiClient, ApiError, UnreachableError
from paceline.errors import UserError

ParamValue = int | str

POLL_S = 1.0
PATIENCE_S = 60.0
"""How long an unreachable server is waited for while a run is under way."""


EXIT_STATUS = {"pass": 0, "fail": 2, "inconclusive": 3}


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
    """A run at its end, as the server tells it."""

    run: dict[str, Any]
    comparisons: list[dict[str, Any]]


def submit(
    api: ApiClient,
    request: RunRequest,
    timeout_s: float,
    say: Callable[[str], None],
    preset: str | None = None,
) -> FinishedRun:
    """Requests and waits. What `request` leaves open is as the suite's preset has it, where one is named.
    Raises UserError with what the server said, or when time is up."""
    try:
        if preset is not None:
            request = _with_preset(api, request, preset)
        body = {**msgspec.to_builtins(request), "trigger": "ci"}
        say(f"how long: {api.call('POST', '/runs/estimate', body)['words']}")
        run = api.call("POST", "/runs", body)
        base = f" against {run['base_commit'][:12]}" if run.get("base_commit") else ""
        say(f"run {run['id']} of {run['suite']} at {run['commit'][:12]}{base}")
        run = _wait(api, run["id"], timeout_s, say)
        comparisons = _all_pages(api, f"/runs/{run['id']}/comparisons")
    except ApiError as error:
        raise UserError(
            f"The server refused ({error.code}): {error.detail}", _advice(error)
        ) from error
    except UnreachableError as error:
        raise UserError(
            f"The server cannot be reached: {error}", "Check --server and the network."
        ) from error
    return FinishedRun(run, comparisons)


def exit_status(done: FinishedRun) -> int:
    """0 pass · 2 fail · 3 inconclusive · 1 nothing was judged: failed, lost, expired, cancelled."""
    return EXIT_STATUS.get(str(done.run.get("outcome")), 1)


def comparison_table(done: FinishedRun) -> Table:
    """The comparisons, with the server's own words."""
    shown = Table("benchmark", "params", "arm", "verdict", "what the server says")
    for item in done.comparisons:
        params = ", ".join(f"{key}={value}" for key, value in item["params"].items())
        words = item.get("words") or item.get("reason") or ""
        shown.add_row(item["benchmark"], params, item["arm"], item["verdict"], words)
    return shown


def summary(done: FinishedRun) -> str:
    """One line that ends in the server's reason, and of each job without a verdict its cause."""
    run = done.run
    lines = [f"run {run['id']}: {run['outcome']}"]
    if run.get("reason"):
        lines[0] += f": {run['reason']}"
    for job in run.get("jobs", []):
        if job["outcome"] not in EXIT_STATUS:
            said = [
                job["target_name"],
                job["outcome"],
                job.get("cause"),
                job.get("cause_detail"),
            ]
            lines.append(": ".join(part for part in said if part))
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
    said = presets[name]
    return msgspec.structs.replace(
        request,
        benchmarks=request.benchmarks or said.get("benchmarks"),
        params=said["params"] | request.params,
        launches=request.launches or said.get("launches"),
        rounds=request.rounds or said.get("rounds"),
    )


def _wait(
    api: ApiClient, run_id: str, timeout_s: float, say: Callable[[str], None]
) -> dict[str, Any]:
    deadline, unreachable_since = time.monotonic() + timeout_s, None
    pause, told = threading.Event(), ""
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
        if states != told:
            told = states
            say(states or run["state"])
        if time.monotonic() > deadline:
            advice = "The run goes on; see it in the dashboard, or raise --timeout-s."
            raise UserError(
                f"Run {run_id} is not finished after {timeout_s:g} s ({states}).",
                advice,
            )
        pause.wait(POLL_S)


def _all_pages(api: ApiClient, path: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        query = {"limit": "200", **({"cursor": cursor} if cursor else {})}
        page = api.call("GET", path, params=query, tries=5)
        items += page["items"]
        cursor = page.get("next")
        if not cursor:
            return items


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UserError(f"{text!r} is not NAME=VALUE.")
    return key, value


def _value(text: str) -> ParamValue:
    return int(text) if text.isascii() and text.isdigit() else text


def _advice(error: ApiError) -> str:
    unannounced = "Does an online agent announce it? See Targets and its agent.toml."
    known = {
        "unauthenticated": "Give a valid token with --token or PACELINE_TOKEN.",
        "forbidden": "The token needs the scope `ingest`.",
        "not_found": unannounced,
        "unknown_suite": unannounced,
        "no_target": "Is an agent online that announces this suite?",
    }
    return known.get(error.code, "")
