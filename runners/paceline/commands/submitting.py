"""Requests a run for CI, waits for its end and shows the server's verdicts.

All verdicts and documents are the server's (I17, I21). A missing verdict, no answer and a timeout never count as
a pass.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote

import msgspec
from paceline_contract.events import ParamValue
from paceline_contract.outputs import (
    BRACKETS,
    MEDIA_TYPES,
    Format,
    Output,
    write_whole,
)
from paceline_contract.params import params_text, split_values, untyped_value
from rich.table import Table
from rich.text import Text

from paceline.ab import describe_same_commit
from paceline.api import ApiClient, ApiError, UnreachableError
from paceline.commands.server_client import (
    READ_TRIES,
    UNAUTHENTICATED,
    ServerClient,
    short_time,
    user_errors,
)
from paceline.display import (
    QUIET_S,
    print_json,
    print_line,
    print_note,
    render_table,
    terminal,
)
from paceline.errors import UserError
from paceline.forges.port import PullRequest
from paceline.forges.reporting import ForgeReporter, verdict_state
from paceline.selection import parse_pair
from paceline.terminal_text import readable_line

POLL_S = 1.0
TITLE_CHARACTERS = 500
PATIENCE_S = 60.0
"""How long to wait for an unreachable server while a run is under way."""

VERDICTS = ("pass", "fail", "inconclusive")
_NOT_ANNOUNCED = (
    "An online agent must announce it: see Targets, and the agent's agent.toml."
)
ADVICE = {
    "unauthenticated": UNAUTHENTICATED,
    "forbidden": "The token needs the permissions `runs.create` and `targets.use`.",
    "not_found": _NOT_ANNOUNCED,
    "unknown_suite": _NOT_ANNOUNCED,
    "no_target": "Start an agent that announces this suite.",
}


class PullRequestBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The pull request of a run, as its forge names it."""

    number: int
    url: str | None = None
    title: str | None = None


class RunRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of POST /runs."""

    suite: str
    commit: str | None = None
    branch: str | None = None
    base_commit: str | None = None
    head: str | None = None
    """Of a pull request, instead of `commit`."""
    base: str | None = None
    base_branch: str | None = None
    pull_request: PullRequestBody | None = None
    benchmarks: list[str] | None = None
    targets: list[str] | None = None
    launches: int | None = None
    """None: the server's default for each kind of target."""
    rounds: int | None = None
    """None: 20, the server's default."""
    suppress: list[str] = []
    params: dict[str, list[ParamValue]] = {}
    knobs: dict[str, ParamValue] = {}
    concurrency_key: str | None = None
    stop_when_sure: bool | None = None
    """None: the server's default."""


class StoppedError(Exception):
    """The user or the pipeline stopped the command while it waited."""


class RunCancelledError(Exception):
    """The user or the pipeline stopped the command, and the run was cancelled with it."""


class Revisions(NamedTuple):
    """The revisions that a user or a pipeline named."""

    commit: str | None
    branch: str | None
    base: str | None
    base_branch: str | None


def choose_revisions(
    request: RunRequest, named: Revisions, pull_request: PullRequest | None
) -> RunRequest:
    """Return the request with what is measured: a pull request against its base, else a commit. Raises UserError."""
    base_branch = named.base_branch
    if pull_request is not None and named.base is None:
        base_branch = base_branch or pull_request.base_branch
    if named.base is not None and base_branch is not None:
        raise UserError("Give either --base or --base-branch.")
    if pull_request is None and base_branch is None:
        return msgspec.structs.replace(
            request,
            commit=named.commit,
            branch=named.branch,
            base_commit=named.base,
        )
    if named.base is None and base_branch is None:
        print_note(
            "The pipeline does not say which branch the pull request goes to, so its head is not compared with a "
            "base: give --base-branch."
        )
        return msgspec.structs.replace(request, commit=named.commit)
    if named.commit is None:
        raise UserError("A base branch is compared with a commit.", "Give --commit.")
    return msgspec.structs.replace(
        request,
        head=named.commit,
        base=named.base,
        base_branch=base_branch,
        pull_request=None if pull_request is None else _body_of(pull_request),
    )


def _body_of(pull_request: PullRequest) -> PullRequestBody:
    """Return the pull request within the server's limits, which are narrower than a forge's."""
    url = pull_request.url
    is_link = url is not None and re.fullmatch(r"https?://\S{1,1900}", url) is not None
    title = (pull_request.title or "").encode("utf-8", "replace").decode()
    title = readable_line(title)[:TITLE_CHARACTERS]
    return PullRequestBody(pull_request.number, url if is_link else None, title or None)


class FinishedRun(msgspec.Struct, frozen=True):
    """A run at its end, as the server reports it."""

    run: dict[str, Any]
    comparisons: list[dict[str, Any]]
    next_steps: list[str] = []
    """Advice about each cause that left it undecided."""


class Waiting(NamedTuple):
    """How long a command waits for its run, and what ends it earlier."""

    timeout_s: float
    stop: threading.Event
    """Set when the user or the pipeline stops the command."""
    resume: str | None = None
    """A run to wait for, instead of requesting one."""
    how_to_resume: str = "`--resume {run_id}` goes on waiting"


def submit(
    server: str,
    token: str,
    request: RunRequest,
    waiting: Waiting,
    preset: str | None = None,
    *,
    reporter: ForgeReporter | None = None,
) -> FinishedRun:
    """Request a run and wait for its end. A preset of the suite fills in what `request` leaves open. `reporter`
    is told when the run starts, and why it has no verdict. Raises UserError when the server refuses the run or the
    time is up, RunCancelledError when the command was stopped."""
    try:
        return _submit(
            server,
            token,
            request,
            waiting=waiting,
            preset=preset,
            reporter=reporter,
        )
    except RunCancelledError:
        if reporter is not None:
            text = "Cancelled: the pipeline was stopped."
            reporter.set_status("cancelled", text, reporter.run_url)
        raise
    except UserError as error:
        if reporter is not None:
            text = f"No verdict: {error.text}"
            reporter.set_status("error", text, reporter.run_url)
        raise


def _request_run(
    api: ApiClient, request: RunRequest, preset: str | None
) -> dict[str, Any]:
    requested_params = request.params
    if preset is not None:
        request = _with_preset(api, request, preset)
    body = {**msgspec.to_builtins(request), "trigger": "ci"}
    try:
        estimate = api.call("POST", "/runs/estimate", body)["words"]
    except ApiError as error:
        refused = [
            name
            for name in request.params
            if name not in requested_params and f"params.{name}" in error.fields
        ]
        if refused:
            error.detail += f" (set by the preset {preset}: {', '.join(refused)})"
        raise
    print_note(f"estimated duration: {estimate}")
    run: dict[str, Any] = api.call("POST", "/runs", body, tries=READ_TRIES, once=True)
    return run


def _with_target_ids(client: ServerClient, request: RunRequest) -> RunRequest:
    """Return the request with the ids of the targets that were named. Raises UserError."""
    if request.targets is None:
        return request
    ids = [client.target_id(target) for target in request.targets]
    return msgspec.structs.replace(request, targets=ids)


def _find_run(api: ApiClient, run_id: str, suite: str) -> dict[str, Any]:
    """Find a run that was requested before. Raises UserError."""
    try:
        run: dict[str, Any] = api.call(
            "GET", f"/runs/{quote(run_id, safe='')}", tries=READ_TRIES
        )
    except ApiError as error:
        if error.status != 404:
            raise
        raise UserError(
            f"There is no run {run_id!r}.", "Give the id that submit printed."
        ) from error
    if run["suite"] != suite:
        raise UserError(f"Run {run_id} is of suite {run['suite']}, not of {suite}.")
    return run


def _submit(
    server: str,
    token: str,
    request: RunRequest,
    *,
    waiting: Waiting,
    preset: str | None,
    reporter: ForgeReporter | None,
) -> FinishedRun:
    api, client = ApiClient(server, token), ServerClient(server, token)
    with user_errors(ADVICE):
        if waiting.resume is None:
            run = _request_run(api, _with_target_ids(client, request), preset)
        else:
            run = _find_run(api, waiting.resume, request.suite)
        base = _base_words(run)
        print_note(f"{run['id']} of {run['suite']} at {run['commit'][:12]}{base}")
        run_url = _run_url(server, token, run["id"])
        print_note(f"watch it: {run_url}")
        if reporter is not None:
            reporter.run_url = run_url
            reporter.set_status(
                "pending", "The run is queued or measuring.", reporter.run_url
            )
        try:
            run = wait_for_run(api, run["id"], waiting)
        except StoppedError:
            _cancel(api, run["id"])
    return read_verdicts(server, token, run)


def read_verdicts(server: str, token: str, run: dict[str, Any]) -> FinishedRun:
    """Return what the server says about a run that has ended. Raises UserError."""
    with closing(ServerClient(server, token)) as client:
        comparisons = client.list_items(f"/runs/{run['id']}/comparisons")
    return FinishedRun(run, comparisons, _next_steps(server, token, run))


def _next_steps(server: str, token: str, run: dict[str, Any]) -> list[str]:
    """Return the server's advice about an inconclusive run; empty if its verdicts cannot be read."""
    if run.get("outcome") != "inconclusive":
        return []
    try:
        text = _fetch_document(server, token, run["id"], "json")
        reasons = msgspec.json.decode(text, type=_DocumentWithReasons).reasons
    except (UserError, msgspec.DecodeError):
        return []
    steps = (reason.next_step for reason in reasons)
    return list(dict.fromkeys(step for step in steps if step))


class _Reason(msgspec.Struct):
    """The part of a reason that is read here."""

    next_step: str | None = None


class _DocumentWithReasons(msgspec.Struct):
    """The part of a run's verdicts that says what to do next."""

    reasons: list[_Reason] = []


def _base_words(run: dict[str, Any]) -> str:
    if run.get("base_commit"):
        return f" against {run['base_commit'][:12]}"
    if run.get("base_branch"):
        return f" against its merge base with {run['base_branch']}"
    return ""


def write_outputs(
    server: str, token: str, done: FinishedRun, outputs: Sequence[Output]
) -> None:
    """Write or print the verdicts in each format. Raises UserError, also where a file cannot be written."""
    for output in outputs:
        if output == Output("table", None):
            _print_table(done)
            continue
        if output.format == "table":
            text = _table_text(done)
        else:
            text = _fetch_document(server, token, done.run["id"], output.format)
        if output.path is None:
            if output.format == "json":
                print_json(msgspec.json.decode(text))
            else:
                print_line(text.rstrip("\n"))
            continue
        try:
            write_whole(output.path, text)
        except OSError as error:
            raise UserError(
                f"{output.path} cannot be written: {error.strerror}.",
                "Create its directory, or choose another --output.",
            ) from error


def report(
    reporter: ForgeReporter,
    server: str,
    token: str,
    done: FinishedRun,
    exits_with: int,
) -> None:
    """Show the verdict in the forge. Never raises; failures are printed on standard error."""
    outcome, reason = done.run.get("outcome"), done.run.get("reason")
    if done.run.get("superseded_by") and outcome == "cancelled":
        reason = f"superseded by run {done.run['superseded_by']}"
    sentence = ": ".join(part for part in (outcome or "no verdict", reason) if part)
    state = verdict_state(outcome, exits_with)
    reporter.set_status(state, sentence, reporter.run_url)
    if reporter.pipeline.pull_request is None:
        return
    try:
        text = _fetch_document(server, token, done.run["id"], "markdown")
        newer = _superseding_run(server, token, done.run["id"])
    except UserError as error:
        print_note(f"The comment was not written: {error.text}")
        return
    if newer is not None:
        # It has written the comment, or will.
        print_note(f"The comment was left to the newer run {newer}.")
        return
    reporter.write_comment(text)


def _superseding_run(server: str, token: str, run_id: str) -> str | None:
    """Return the newer run of the same pull request, as it is known now. Raises UserError."""
    with closing(ApiClient(server, token)) as api, user_errors(ADVICE):
        run = api.call("GET", f"/runs/{run_id}", tries=READ_TRIES)
        newer: str | None = run.get("superseded_by")
        return newer


def _run_url(server: str, token: str, run_id: str) -> str:
    """Return the run's page, at the server's public address where it has one."""
    try:
        text = _fetch_document(server, token, run_id, "json")
        url = msgspec.json.decode(text, type=_LinkedDocument).url
    except (UserError, msgspec.DecodeError):
        url = None
    return url or f"{server}/runs/{run_id}"


class _LinkedDocument(msgspec.Struct):
    """The part of a run's verdicts that is read here."""

    url: str | None = None


def _fetch_document(server: str, token: str, run_id: str, wanted: Format) -> str:
    with closing(ApiClient(server, token)) as api, user_errors(ADVICE):
        return api.document(
            f"/runs/{run_id}/verdicts",
            MEDIA_TYPES[wanted],
            {"format": wanted},
            READ_TRIES,
        )


def _table_text(done: FinishedRun) -> str:
    """Return the table and the summary for a file."""
    return f"{render_table(comparison_table(done))}{_summary_of_table(done)}\n"


def _print_table(done: FinishedRun) -> None:
    if done.comparisons:
        terminal().print(comparison_table(done), soft_wrap=True)
    print_line(_summary_of_table(done))


def _summary_of_table(done: FinishedRun) -> str:
    """Return the summary, after what the brackets of the table mean if it has any."""
    has_brackets = any(item.get("decides") is False for item in done.comparisons)
    return f"{BRACKETS}\n{summary(done)}" if has_brackets else summary(done)


def comparison_table(done: FinishedRun) -> Table:
    """Return a table of the comparisons as the server words them, with the target if there are several; a verdict in
    brackets does not affect the run's."""
    headings = ["benchmark", "params", "arm", "what", "verdict", "what the server says"]
    has_targets = len({item.get("target_name") for item in done.comparisons}) > 1
    table = Table(*(["target"] if has_targets else []), *headings)
    for item in done.comparisons:
        is_measured = item["verdict"] != "not_applicable"
        words = (is_measured and item.get("words")) or item.get("reason") or ""
        verdict = item["verdict"].replace("_", " ")
        if item.get("waived"):
            verdict, words = "waived", f"{words}; {item['waived']['words']}"
        cells = (
            *([item.get("target_name") or ""] if has_targets else []),
            item["benchmark"],
            params_text(item["params"]),
            item["arm"],
            _subject_words(item),
            f"({verdict})" if item.get("decides") is False else verdict,
            words,
        )
        # Names and messages come from repositories; a cell may hold markup or a terminal's escapes.
        table.add_row(*(Text(readable_line(cell)) for cell in cells))
    return table


def _subject_words(item: dict[str, Any]) -> str:
    """Return what is compared with what, as the server's other formats do: `time against fallback`."""
    compared_with = (
        "base" if item.get("sides") == "revisions" else item.get("reference")
    )
    return (
        f"{item.get('metric') or ''} against {compared_with}".strip()
        if compared_with
        else ""
    )


def summary(done: FinishedRun) -> str:
    """Return the outcome with the server's reason, and the cause of each job without a verdict."""
    run = done.run
    lines = [f"{run['id']}: {run['outcome']}"]
    if run.get("reason"):
        lines[0] += f": {run['reason']}"
    if run.get("base_commit") and run["base_commit"] == run.get("commit"):
        lines.append(describe_same_commit(run["commit"]))
    for job in run.get("jobs", []):
        if job["outcome"] not in VERDICTS:
            parts = [job["target_name"], job["outcome"]]
            parts += [job.get("cause"), job.get("cause_detail")]
            lines.append(": ".join(part for part in parts if part))
    lines += [f"next: {step}" for step in done.next_steps]
    return "\n".join(map(readable_line, lines))


def parse_params(options: Sequence[str]) -> dict[str, list[ParamValue]]:
    """Parse `k=v1|v2`; whole numbers become integers, the server checks them against the suite."""
    pairs = [parse_pair("--params", option) for option in options]
    return {
        name: [untyped_value(value) for value in split_values(text)]
        for name, text in pairs
    }


def parse_knobs(options: Sequence[str]) -> dict[str, ParamValue]:
    """Parse `k=v`, as `parse_params` does."""
    pairs = [parse_pair("--knob", option) for option in options]
    return {name: untyped_value(text) for name, text in pairs}


def _with_preset(api: ApiClient, request: RunRequest, name: str) -> RunRequest:
    suite = api.call("GET", f"/suites/{quote(request.suite, safe='')}")
    presets = {item["name"]: item for item in suite["presets"]}
    if name not in presets:
        known = ", ".join(presets) or "none"
        raise UserError(
            f"Suite {request.suite} has no preset {name!r}.", f"Use one of: {known}."
        )
    chosen = presets[name]
    return msgspec.structs.replace(
        request,
        benchmarks=request.benchmarks or chosen.get("benchmarks"),
        params=chosen["params"] | request.params,
        launches=request.launches or chosen.get("launches"),
        rounds=request.rounds or chosen.get("rounds"),
    )


def _cancel(api: ApiClient, run_id: str) -> NoReturn:
    """Cancel the run of a command that was stopped. Raises RunCancelledError, also if the server is away: a pipeline
    that is stopped has seconds."""
    try:
        api.call("POST", f"/runs/{run_id}/cancel")
        print_note(f"Stopped: run {run_id} is cancelled.")
    except (ApiError, UnreachableError) as error:
        print_note(f"Stopped: run {run_id} could not be cancelled: {error}")
    raise RunCancelledError(run_id)


def describe_job(job: dict[str, Any]) -> str:
    """Describe where a job is, and why it measures nothing: `lab-1 queued since 2026-11-28 14:02 UTC: lab-1 runs job job_7
    of hashing. It starts when that ends.`"""
    state = f"{job['target_name']} {job['state']}"
    reason = job.get("waiting_reason")
    if reason is None:
        return f"{state} ({job['detail']})" if job.get("detail") else state
    since = f" since {short_time(reason['since'])} UTC" if reason["since"] else ""
    advice = f". {reason['advice']}" if reason["advice"] else ""
    return f"{state}{since}: {reason['text']}{advice}"


class _Progress:
    """Prints changes in the state of a run's jobs and, during a long build, its newest line."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api
        self._printed, self._printed_at = "", time.monotonic()

    def show(self, run: dict[str, Any]) -> str:
        """Print what is new; return where the jobs are."""
        jobs, now = run.get("jobs", []), time.monotonic()
        states = "; ".join(describe_job(job) for job in jobs)
        if states != self._printed:
            self._printed, self._printed_at = states, now
            print_note(states or run["state"])
        elif now - self._printed_at >= QUIET_S:
            self._printed_at = now
            for job in jobs:
                if job["state"] == "preparing":
                    self._show_newest_line(job)
        return states

    def _show_newest_line(self, job: dict[str, Any]) -> None:
        """Print the newest line of a build; say nothing where the log cannot be read."""
        try:
            page = self._api.call(
                "GET", f"/jobs/{job['id']}/log", params={"tail": "true", "limit": "1"}
            )
        except (ApiError, UnreachableError):
            return
        for line in page["items"]:
            print_note(f"  {job['target_name']}: {readable_line(line['text'])}")


def wait_for_run(api: ApiClient, run_id: str, waiting: Waiting) -> dict[str, Any]:
    """Return the run at its end. Raises UserError when the time is up, StoppedError when the command was stopped."""
    timeout_s, pause = waiting.timeout_s, waiting.stop
    deadline, unreachable_since = time.monotonic() + timeout_s, None
    progress = _Progress(api)
    while True:
        if pause.is_set():
            raise StoppedError
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
        states = progress.show(run)
        if time.monotonic() > deadline:
            resume = waiting.how_to_resume.format(run_id=run_id)
            advice = f"The run continues; {resume}, --timeout-s waits longer."
            raise UserError(
                f"Run {run_id} is not finished after {timeout_s:g} s ({states}).",
                advice,
            )
        pause.wait(POLL_S)
