"""Parses prose around benchmark lines: the batch policy in force, and claims about the figures.

For documents that mix prose and log. Claims are compared with the log's figures and never replace them. Anything
that does not match is ignored, because prose has no fixed shape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

ABOUT = 0.1
"""Relative tolerance of a claim marked with ~: "~20 %" is 18 to 22 %."""
MAX_PROSE = 2_000
"""Most characters of a line of prose; longer lines are data."""
MAX_CLAIMS = 100

_NUMBER = r"(\d{1,3}(?:[ .,'\u00a0\u2009\u202f]\d{3}){1,3}(?!\d)|\d{1,9})"
_MINIMUM = re.compile(
    rf"[-*\s]{{0,8}}minim\w{{0,8}}\s(?:\w{{1,16}}\s){{0,3}}?batch\b[^:]{{0,80}}:\s?\*{{0,2}}{_NUMBER}"
    r"(?:[ \u00a0](\w{1,32}))?",
    re.IGNORECASE,
)
_ROUNDS = re.compile(
    r"[-*\s]{0,8}warm-?up\b[^:]{0,40}:\s?\*{0,2}(\d{1,6})[ \u00a0](?:rund|round)",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"(~|≈|about |ca\. |ok\. )?(\d{1,4}(?:[.,]\d{1,3})?) ?%")
_ITEMS = re.compile(
    rf"{_NUMBER}[ \u00a0](?:items|hashes|fingerprints|elements|odcisk\w{{0,3}})\b"
)
_SLOWER = re.compile(r"\b(?:slowdown|slower|wolniej\w{0,3})\b")
_FASTER = re.compile(r"\b(?:speed-?up|faster|szybciej|szybsz\w{0,3})\b")


class BatchPolicy(msgspec.Struct, frozen=True):
    """The policy that the document states: the arm is used from `minimum` on, after `warmup_rounds`."""

    minimum: int
    unit: str | None
    warmup_rounds: int | None
    lines: list[int]
    text: str


class ProseClaim(msgspec.Struct, frozen=True):
    """A sentence's claim about one batch size. `percent` above 0 is slower; `about`: it is marked with ~."""

    line: int
    batch: int
    percent: float
    about: bool
    printed: str
    text: str

    def holds(self, low: float, high: float) -> bool:
        """Whether some share from `low` to `high` agrees with the claim."""
        claimed = self.percent / 100.0
        decimals = len(self.printed.partition(".")[2])
        slack = abs(claimed) * ABOUT if self.about else 0.5 * 10.0 ** -(decimals + 2)
        return claimed - slack <= high and low <= claimed + slack

    def about_device(self, name: str, names: Sequence[str]) -> bool:
        """Whether the sentence is about device `name`: it names that device, or none of `names`. If one name
        is part of another, the longer one counts."""
        text, named = self.text, set()
        for other in sorted({name, *names}, key=len, reverse=True):
            if other and other in text:
                named.add(other)
                text = text.replace(other, "\n")
        return name in named or not named


class Prose:
    """Collects the policy and the claims from a document's lines outside the log."""

    def __init__(self) -> None:
        self.claims: list[ProseClaim] = []
        self._minimum: tuple[int, str, int, str | None] | None = None
        self._rounds: tuple[int, str, int] | None = None

    def line(self, number: int, text: str) -> None:
        """Takes one line that does not belong to the log."""
        if len(text) > MAX_PROSE:
            return
        folded = text.casefold()
        if (
            "batch" in folded
            and self._minimum is None
            and (match := _MINIMUM.match(text)) is not None
        ):
            self._minimum = (number, text.strip(), _whole(match[1]), match[2])
        elif (
            "warm" in folded
            and self._rounds is None
            and (match := _ROUNDS.match(text)) is not None
        ):
            self._rounds = (number, text.strip(), int(match[1]))
        elif "%" in text and "native" in folded and len(self.claims) < MAX_CLAIMS:
            self.claims.extend(_claims(number, text))

    @property
    def policy(self) -> BatchPolicy | None:
        """The stated policy; warm-up rounds alone are not one."""
        if self._minimum is None:
            return None
        line, text, minimum, unit = self._minimum
        if self._rounds is None:
            return BatchPolicy(minimum, unit, None, [line], text)
        return BatchPolicy(
            minimum,
            unit,
            self._rounds[2],
            sorted({line, self._rounds[0]}),
            f"{text}\n{self._rounds[1]}",
        )


def _claims(number: int, text: str) -> list[ProseClaim]:
    """The claim of a sentence with one percentage, one batch size and one direction; otherwise none."""
    percents, items = list(_PERCENT.finditer(text)), list(_ITEMS.finditer(text))
    slower, faster = bool(_SLOWER.search(text)), bool(_FASTER.search(text))
    if len(percents) != 1 or len(items) != 1 or slower == faster:
        return []
    printed = percents[0][2].replace(",", ".")
    sign = 1.0 if slower else -1.0
    return [
        ProseClaim(
            line=number,
            batch=_whole(items[0][1]),
            percent=sign * float(printed),
            about=percents[0][1] is not None,
            printed=printed,
            text=text.strip(),
        )
    ]


def _whole(text: str) -> int:
    return int(re.sub(r"\D", "", text))
