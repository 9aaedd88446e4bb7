"""Judges one launch: turns what was observed into an outcome with one cause, a sentence and advice.

The first that applies decides: stopped by us · did not start · timed out · flooded · killed by a signal ·
broken stream · failed check · error event · exit status that contradicts the stream · ok.
"""

from __future__ import annotations

import msgspec
from paceline_contract.attempts import MAX_DETAIL, AgentCause
from paceline_contract.events import ErrorEvent, Terminal
from paceline_contract.stream import StreamError

from paceline.exit_descriptions import describe_signal, describe_status
from paceline.first_error import Excerpt
from paceline.stop import StopReason

SIGKILL = 9


class LaunchFacts(msgspec.Struct, frozen=True):
    """Everything the executor observed. After the end, exactly one of exit_code, signal_number and start_error
    is set."""

    workload: str
    launch: int
    exit_code: int | None = None
    signal_number: int | None = None
    start_error: str | None = None
    timed_out_s: float | None = None
    flooded_bytes: int | None = None
    stopped: StopReason | None = None
    fault: StreamError | None = None
    terminal: Terminal | None = None
    failed_checks: tuple[tuple[str, str], ...] = ()
    excerpt: Excerpt | None = None
    """The part of its output that a person should see."""
    memory: str | None = None
    """A sentence if the kernel killed a process for lack of memory meanwhile."""
    memory_is_watched: bool = False
    """Whether the kernel counts such kills."""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a launch or job. `cause` None: it counts; otherwise `detail` says what happened and what
    to do."""

    cause: AgentCause | None = None
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.cause is None


def judge(facts: LaunchFacts) -> Outcome:
    """Return the outcome of one launch."""
    failure = (
        _judge_stop(facts)
        or _judge_end(facts)
        or _judge_stream(facts)
        or _judge_contradiction(facts)
    )
    if failure is None:
        return Outcome()
    cause, text, advice = failure
    sentence = f"Workload {facts.workload}, launch {facts.launch}: {text}"
    excerpt = None if facts.stopped else facts.excerpt
    return Outcome(cause, detail(sentence, advice, excerpt))


def detail(text: str, advice: str, excerpt: Excerpt | None = None) -> str:
    """Join sentence, excerpt and advice. If they exceed the server's limit, the sentence is cut."""
    below = "\n".join(
        part for part in (excerpt.render() if excerpt else "", advice) if part
    )
    room = MAX_DETAIL - len(below) - 1
    return f"{text[:room]}\n{below}".rstrip()[:MAX_DETAIL]


Failure = tuple[AgentCause, str, str]


STOPPED: dict[StopReason, AgentCause] = {
    StopReason.CANCELLED: "cancelled",
    StopReason.SHUTDOWN: "cancelled",
    StopReason.LEASE_LOST: "lease_lost",
    StopReason.REFUSED: "agent_error",
    StopReason.NOT_ACCEPTED: "agent_error",
    StopReason.DISK_FULL: "disk_full",
}


def stopped_outcome(reason: StopReason) -> Outcome:
    """Return the outcome of a job that was stopped between launches."""
    return Outcome(STOPPED[reason], f"Stopped: {reason.value}.")


def _judge_stop(facts: LaunchFacts) -> Failure | None:
    if facts.stopped is None:
        return None
    return STOPPED[facts.stopped], f"stopped: {facts.stopped.value}.", ""


def _judge_end(facts: LaunchFacts) -> Failure | None:
    if facts.start_error is not None:
        advice = "Install what the workload's `run` names on this target, or correct it in suite.toml."
        return "workload_crashed", f"could not be started: {facts.start_error}.", advice
    if facts.timed_out_s is not None:
        advice = (
            "See where it hangs by running it with `paceline run`; if it is just slow, raise "
            "launch_timeout_s in suite.toml or ask for fewer rounds."
        )
        return (
            "workload_hung",
            f"still running after {facts.timed_out_s:g} s and was killed.",
            advice,
        )
    if facts.flooded_bytes is not None:
        text = f"wrote {facts.flooded_bytes / 1e6:.0f} MB of output that is no bench stream and was killed."
        advice = "Standard output is for the bench stream only; remove debugging output from the workload."
        return "workload_flooded", text, advice
    if facts.signal_number is not None:
        how = describe_signal(facts.signal_number)
        advice = (
            facts.memory
            or "Run it by hand with `paceline run` under a debugger or with a sanitizer."
        )
        if facts.signal_number == SIGKILL and facts.memory is None:
            advice = (
                "The agent did not kill it, and the kernel counted no kill for lack of memory: look for a "
                "person or service that did."
                if facts.memory_is_watched
                else "Often the system ran out of memory: its kernel log (dmesg) says so."
            )
        return "workload_crashed", f"was killed by {how}.", advice
    return None


def _judge_stream(facts: LaunchFacts) -> Failure | None:
    fault = facts.fault
    if fault is not None and fault.code == "truncated":
        if facts.exit_code:
            text = f"{describe_status(facts.exit_code)} before its stream ended."
            advice = (
                facts.memory
                or "Run it by hand with the same arguments; its whole output is in the log."
            )
            return "workload_crashed", text, advice
        advice = (
            "A workload's last line must be done or error; check that it prints one."
        )
        return (
            "workload_no_terminal",
            f"exited with status 0 without saying done ({fault.detail}).",
            advice,
        )
    if fault is not None:
        text = f"its output breaks the bench stream at line {fault.line}: {fault.code}: {fault.detail}."
        advice = "Print events only, one JSON object per line, as native/protocol/README.md says."
        return "stream_invalid", text, advice
    if facts.failed_checks:
        shown_checks = "; ".join(
            f"{name}: {text}" if text else name
            for name, text in facts.failed_checks[:10]
        )
        advice = "Timings of code that computes wrong results do not count. Repair the check first."
        return (
            "check_failed",
            f"{len(facts.failed_checks)} correctness check(s) failed: {shown_checks}.",
            advice,
        )
    if isinstance(facts.terminal, ErrorEvent):
        return (
            "workload_error",
            f"ended in error {facts.terminal.code}: {facts.terminal.text}",
            "",
        )
    return None


def _judge_contradiction(facts: LaunchFacts) -> Failure | None:
    if not facts.exit_code:
        return None
    text = f"said done and then {describe_status(facts.exit_code)}."
    return (
        "workload_crashed",
        text,
        "The status after done must be 0; check what runs after it (destructors, hooks).",
    )
