"""Tables of the allocator's figures, put into a page between marks.

    <!-- figures -->      what stands between these two lines
    <!-- /figures -->     is replaced by `update`

Place: after `plots.py` has drawn. Invariant: a level stands beside what was reached, worst point first, also
where it was not held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from figures import Figure, Report

BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
ALT = {
    "speed.svg": "Speed by mimalloc's and by the best other's over the working set, with intervals",
    "threads.svg": "Two threads: speed by the best other's, by share of frees in the other thread",
    "degradation.svg": "Time at 8,192 slots by time at 256, per allocator",
    "left.svg": "Memory left after a burst, per allocator",
    "programs.svg": "Processor time of real programs by mimalloc's",
    "instructions.svg": "Instructions of an operation, per allocator",
    "misses.svg": "Cache misses of an operation, per allocator",
}
MODES = ("compat", "independent")
OURS = ("paceline", "paceline_hardened")


class StatisticLabel(NamedTuple):
    """How a derived metric reads in the table, and whether its reciprocal is what people ask for."""

    words: str
    turned: bool = False
    plus_one: bool = False


WORDS: Mapping[str, StatisticLabel] = {
    "vs_system": StatisticLabel("speed by the system's"),
    "vs_mimalloc343": StatisticLabel("speed by mimalloc 3.4.3's"),
    "share_of_bound": StatisticLabel("speed by the bound's"),
    "field": StatisticLabel("speed by the best other's, one thread", turned=True),
    "threads_field": StatisticLabel(
        "speed by the best other's, two threads", turned=True
    ),
    "degradation": StatisticLabel("time at 8,192 slots by time at 256"),
    "rss_over_mimalloc343": StatisticLabel(
        "peak memory by mimalloc 3.4.3's", plus_one=True
    ),
    "left_by_others": StatisticLabel(
        "memory left after a burst by each other's", turned=True, plus_one=True
    ),
    "given_back": StatisticLabel("share of the peak given back when all is freed"),
    "replay_vs_mimalloc343": StatisticLabel(
        "time of traces by mimalloc 3.4.3's", turned=True
    ),
    "replay_rss_over_system": StatisticLabel(
        "peak memory of traces by the system's", plus_one=True
    ),
    "programs_vs_mimalloc343": StatisticLabel(
        "time of real programs by mimalloc 3.4.3's", turned=True
    ),
    "multithreaded_vs_mimalloc343": StatisticLabel(
        "time of threaded loads by mimalloc 3.4.3's", turned=True
    ),
    "launch_sd_percent": StatisticLabel("scatter of launches, %"),
}
TURNED_OP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table; no lines without rows."""
    if not rows:
        return []
    return [
        "",
        *(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)),
    ]


def at_points(params: Mapping[str, Any]) -> str:
    return (
        ", ".join(str(value) for name, value in params.items() if name != "setup")
        or "-"
    )


def shown(figure: Figure | None) -> str:
    return "-" if figure is None else str(figure)


def gate_rows(report: Report) -> Iterator[list[str]]:
    """Yield a row per level: the worst of its points, and how many hold."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for gate in report.gates:
        arm = gate["arm"] if gate["arm"] in OURS else "paceline"
        groups.setdefault(
            (gate["statistic"], gate["op"], gate["target"], gate["level"], arm), []
        ).append(gate)
    for (statistic, op, target, level, arm), gates in groups.items():
        said = WORDS.get(
            statistic, StatisticLabel(f"{gates[0]['metric']}, {statistic}")
        )
        known = [gate for gate in gates if gate["actual"] is not None]
        applies = [gate for gate in gates if gate["verdict"] != "not_applicable"]
        if not known:
            continue
        upward = op in (">", ">=")
        worst = (min if upward else max)(known, key=lambda gate: gate["actual"])
        value, wanted, sign = worst["actual"], target, op
        if said.plus_one:
            value, wanted = value + 1, wanted + 1
        if said.turned:
            value, wanted, sign = 1 / value, 1 / wanted, TURNED_OP[op]
        verdicts = [gate["verdict"] for gate in applies]
        where = at_points(worst["params"])
        who = "" if worst["arm"] in OURS else f", {worst['arm']}"
        yield [
            f"{said.words}{', hardened' if arm != 'paceline' else ''}",
            f"{sign} {wanted:.3g} ({level})",
            f"{value:.3f} ({where}{who})",
            f"{verdicts.count('pass')} of {len(applies)}",
            str(verdicts.count("fail")),
        ]


def one_thread(report: Report) -> Iterator[list[str]]:
    for mode in MODES:
        at = {"mode": mode, "setup": "preload"}
        ours = report.by_value("vs_mimalloc343", "paceline", "working_set", at)
        hardened = report.by_value(
            "vs_mimalloc343", "paceline_hardened", "working_set", at
        )
        bound = report.by_value("share_of_bound", "paceline", "working_set", at)
        memory = report.by_value("rss_over_mimalloc343", "paceline", "working_set", at)
        best = report.by_best("field", "working_set", at)
        for slots, figure in ours.items():
            top = "-" if slots not in best else f"{best[slots][0]} {best[slots][1]}"
            peak = f"{memory[slots].value + 1:.3f}" if slots in memory else "-"
            row = [
                shown(figure),
                top,
                shown(bound.get(slots)),
                shown(hardened.get(slots)),
                peak,
            ]
            yield [mode, f"{slots:,}", *row]


def two_threads(report: Report) -> Iterator[list[str]]:
    for mode in MODES:
        for remote in (0, 1, 50):
            best = report.by_best(
                "threads_field", "working_set", {"mode": mode, "remote_percent": remote}
            )
            for slots, (figure, arm) in best.items():
                yield [mode, f"{remote} %", f"{slots:,}", f"{figure} {arm}"]


def tables(report: Report) -> list[str]:
    """Return all tables there are figures for."""
    lines = table(
        ["what", "level", "worst point", "held", "failed"], list(gate_rows(report))
    )
    head = [
        "mode",
        "slots",
        "by mimalloc 3.4.3's",
        "by the best other's",
        "by the bound's",
    ]
    lines += table(
        [*head, "hardened, by mimalloc's", "peak memory, by mimalloc's"],
        list(one_thread(report)),
    )
    lines += table(
        ["two threads", "remote", "slots", "by the best other's"],
        list(two_threads(report)),
    )
    programs = [
        [name, arm, shown(figure)] for name, arm, figure in report.programs(OURS)
    ]
    return lines + table(["program", "arm", "time by mimalloc 3.4.3's"], programs)


def update(page: Path, folder: Path, names: Sequence[str], report: Report) -> None:
    """Replace what stands between the marks. Raises ValueError where the page has none."""
    text = page.read_text(encoding="utf-8")
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{page.name} has no lines {BEGIN} and {END}")
    place = folder.resolve().relative_to(page.resolve().parent)
    pictures = [f"![{ALT[name]}]({(place / name).as_posix()})" for name in names]
    body = "\n".join([BEGIN, *pictures, *tables(report), END])
    page.write_text(before + body + after, encoding="utf-8")
