"""Finds the line a person needs in the output of a build or a workload, with two lines around it.

    bytes ─▶ lines (terminal_text) ─▶ recognisers, by rank ─▶ the first line of the highest rank ─▶ Excerpt

A log of hundreds of megabytes costs one pass and a few kilobytes: lines are cut before they are matched, no
pattern can run over more than MATCH_CHARACTERS, and only the best line so far is kept. Where no recogniser
matches, the last lines are shown instead, and the excerpt says so.
"""

from __future__ import annotations

import enum
import re
import sys
from collections import deque
from typing import Literal

import msgspec

from paceline.terminal_text import LineSplitter, readable_line

Channel = Literal["stdout", "stderr"]

CONTEXT_LINES = 2
FALLBACK_LINES = 5
MATCH_CHARACTERS = 1000
"""Characters of a line that recognisers match, which bounds the work of any pattern."""
ERROR_CHARACTERS = 800
"""Characters shown of the error's line: Maven states the reason at the end of a line of 600."""
CONTEXT_CHARACTERS = 240
FURTHER_LINES = 3
FURTHER_WITHIN = 40
"""Lines after the error that are searched for a recogniser's `further` lines."""

ERROR_MARK = "  > "
CONTEXT_MARK = "  | "
"""Begin the lines of an excerpt in a cause's detail, where the server recognises them (`jobs/outcomes.py`)."""
NOTHING_KNOWN = "No known error stands in its output; it ended with:"


class Rank(enum.IntEnum):
    """How informative a line is. The first line of the highest rank is shown."""

    SUMMARY = 1
    """A tool reports that a command failed: `make: *** [all] Error 1`."""
    MESSAGE = 2
    """A tool's own message: `error: …`, `[ERROR] …`."""
    CAUSE = 3
    """The place or the object: a compiler's error with its line, an exception, an undefined symbol."""
    RESOURCE = 4
    """The cause of all later errors: a full disk, no memory."""


class Recogniser(msgspec.Struct, frozen=True):
    """Recognises one kind of line. `keywords`: lower-case words; a line must contain one before the pattern is
    tried. `further`: later lines that belong to the excerpt, such as the frame of a crash."""

    name: str
    rank: Rank
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    further: re.Pattern[str] | None = None


class Excerpt(msgspec.Struct, frozen=True):
    """The error's line with the lines around it. `name` is the recogniser's; None if no error was recognised:
    then `before` holds the last lines and `line` is empty."""

    name: str | None
    before: tuple[str, ...]
    line: str
    after: tuple[str, ...] = ()

    def render(self) -> str:
        """Return the excerpt as text for a cause's detail."""
        if self.name is None:
            return "\n".join(
                [NOTHING_KNOWN, *(CONTEXT_MARK + line for line in self.before)]
            )
        around = [CONTEXT_MARK + line for line in self.before]
        below = [CONTEXT_MARK + line for line in self.after]
        return "\n".join([*around, ERROR_MARK + self.line, *below])


def _recogniser(
    name: str, rank: Rank, keywords: str, *patterns: str, further: str | None = None
) -> Recogniser:
    """Make a recogniser: `patterns` match from the first character that is not a blank; `keywords` are separated by
    commas."""
    pattern = re.compile("|".join(patterns))
    return Recogniser(
        name,
        rank,
        tuple(keywords.split(",")),
        pattern,
        re.compile(further) if further else None,
    )


_PLACE = r"(?:[A-Za-z]:)?[^:]{1,400}:\d{1,7}:(?:\d{1,6}:)? ?"
_TOOL = r"(?:[\w./+-]{1,100}: ){0,2}"
_QUALIFIED = r"(?:[\w$]{1,80}\.){1,12}[\w$]{0,80}(?:Error|Exception|Throwable)\b"
_EXCEPTION = (
    r"(?:Uncaught )?(?:[\w$]{1,80}\.){0,8}"
    r"(?:[\w$]{0,80}(?:Error|Exception)|SystemExit|KeyboardInterrupt|TimeoutExpired)"
)

RECOGNISERS: tuple[Recogniser, ...] = (
    # --- failures that make everything else fail
    _recogniser(
        "disk full",
        Rank.RESOURCE,
        "no space left,quota exceeded,enospc,not enough space on the disk",
        r".{0,900}?(?:No space left on device|[Dd]isk quota exceeded|ENOSPC|not enough space on the disk)",
    ),
    _recogniser(
        "out of memory",
        Rank.RESOURCE,
        "killed signal,memory,bad_alloc,codecache for,out of heap,enomem",
        r".{0,900}?(?:Killed signal terminated program|virtual memory exhausted|[Cc]annot allocate memory"
        r"|OutOfMemoryError|insufficient memory for the Java|Out of space in CodeCache|heap out of memory"
        r"|std::bad_alloc|memory allocation of \d{1,20} bytes failed|\bMemoryError\b|\bENOMEM\b"
        r"|LLVM ERROR: out of memory)",
        further=r"\s*(?:what\(\)|Caused by): ",
    ),
    # --- crashes and sanitizers
    _recogniser(
        "sanitizer",
        Rank.CAUSE,
        "sanitizer,runtime error:",
        r"(?:={1,4}\d{1,10}={1,4})?(?:ERROR|WARNING): \w{2,20}Sanitizer: ",
        _PLACE + r"runtime error: ",
        further=r"SUMMARY: ",
    ),
    _recogniser(
        "JVM crash",
        Rank.CAUSE,
        "sig,exception_,internal error",
        r"#\s{1,4}(?:SIG[A-Z]{2,10} \(0x|EXCEPTION_|Internal Error \()",
        further=r"# [A-Za-z]\s{1,3}\[|# \w\s{1,3}\S{1,40} ",
    ),
    _recogniser(
        "Rust panic",
        Rank.CAUSE,
        "panicked at",
        r"thread '[^']{0,200}' (?:\(\d{1,10}\) )?panicked at",
    ),
    _recogniser(
        "Go panic",
        Rank.CAUSE,
        "panic:,fatal error:",
        r"panic: ",
        r"fatal error: (?!.{0,200}\.h\b)",
        further=r"\s{0,8}/[^:]{1,300}\.go:\d",
    ),
    _recogniser(
        "C library",
        Rank.CAUSE,
        "assert,free,malloc,realloc,munmap,corrupt,smashing,overflow,terminate called",
        r".{0,400}?\bAssertion [`'(].{0,500}failed",
        r"Assertion failed: ",
        r"(?:free|malloc|realloc|munmap_chunk|corrupted size vs)\S{0,20}: ",
        r"corrupted size vs",
        r"double free or corruption",
        r"\*\*\* (?:stack smashing|buffer overflow|.{0,60}corruption)",
        r"terminate called (?:after|without|recursively)",
    ),
    # --- compilers: with a place in a source file
    _recogniser(
        "rustc",
        Rank.CAUSE,
        "error[",
        r"error\[[A-Z]\d{3,5}\]: ",
        further=r"[ \d]{0,8}\|[^^]{0,200}\^{1,200} \S",
    ),
    _recogniser(
        "TypeScript or MSVC",
        Rank.CAUSE,
        "error",
        r"[^(]{1,400}\(\d{1,7}(?:,\d{1,6})?\) ?: (?:fatal )?error [A-Z]{1,5}\d{1,6}",
    ),
    _recogniser(
        "Maven compiler",
        Rank.CAUSE,
        "[error]",
        r"\[ERROR\] (?:file://)?[^\s:]{1,400}:"
        r"(?:\[\d{1,7},\d{1,6}\]|\d{1,7}:\d{1,6}| ?\(\d{1,7}, ?\d{1,6}\))",
    ),
    _recogniser("Kotlin", Rank.CAUSE, "e: ", r"e: (?:file://)?[^:]{1,400}:\d"),
    _recogniser("CMake", Rank.CAUSE, "cmake error", r"CMake Error"),
    _recogniser("Meson", Rank.CAUSE, "error:", _PLACE + r"ERROR: "),
    _recogniser(
        "configure",
        Rank.CAUSE,
        "configure: error",
        r"(?:\S{0,200}/)?configure: error: ",
    ),
    _recogniser(
        "Go", Rank.CAUSE, ".go:", r"(?:vet: )?[^:]{1,400}\.go:\d{1,7}:\d{1,6}: "
    ),
    # --- linkers and loaders
    _recogniser(
        "linker",
        Rank.CAUSE,
        "undefined,cannot find -l,unable to find library,multiple definition,duplicate symbol"
        ",library not found",
        r".{0,600}?(?:undefined reference to |cannot find -l|undefined symbol: |unable to find library "
        r"|multiple definition of |duplicate symbol: |library not found for )",
        r"Undefined symbols for architecture ",
    ),
    _recogniser(
        "loader",
        Rank.CAUSE,
        "shared libraries,glibc,cannot link executable,library not loaded,exec format error"
        ",unsatisfiedlinkerror",
        r".{0,600}?(?:error while loading shared libraries: |version `GLIBC\w{0,20}|CANNOT LINK EXECUTABLE "
        r"|Library not loaded: |[Ee]xec format error|UnsatisfiedLinkError)",
    ),
    _recogniser(
        "compiler",
        Rank.CAUSE,
        "error:",
        _PLACE + r"(?:fatal |internal compiler )?[Ee]rror: ",
        r"[^:\s]{1,400}: (?:Fatal |fatal )error: ",
    ),
    # --- the system
    _recogniser(
        "permission denied",
        Rank.CAUSE,
        "denied,eacces,not permitted",
        r".{0,900}?(?:[Pp]ermission denied|EACCES|Operation not permitted|Access is denied)",
    ),
    _recogniser(
        "command not found",
        Rank.CAUSE,
        "not found,no such file,not recognized as",
        r".{0,600}?: command not found",
        r"[^:]{1,200}: (?:line )?\d{1,6}: [^:]{1,400}: not found",
        r"g?make(?:\[\d{1,4}\])?: [^:\s]{1,300}: No such file or directory",
        r"(?:\S{0,200}/)?env: .{1,300}: No such file or directory",
        r".{0,600}?is not recognized as an internal",
    ),
    # --- exceptions
    _recogniser(
        "Java",
        Rank.CAUSE,
        "error,exception,throwable",
        r"Exception in thread \"[^\"]{0,200}\" ",
        r"(?:\[ERROR\] )?" + _QUALIFIED,
        further=r"\s*Caused by: ",
    ),
    _recogniser(
        "exception",
        Rank.CAUSE,
        "error,exception,exit,interrupt,expired",
        _EXCEPTION + r"(?: \[\w{1,60}\])?(?:: |$)",
    ),
    # --- a tool says that what it ran has failed
    _recogniser(
        "a step failed",
        Rank.SUMMARY,
        "error,failed,stopped,failure,aborting,could not compile,exit status,codecache is full",
        r"(?:\S{0,200}/)?g?make(?:\[\d{1,4}\])?: \*\*\* \[",
        r"(?:\S{0,200}/)?collect2: error: ",
        r"\S{1,100}: error: (?:linker command failed|unable to execute command)",
        r"ninja: (?:build stopped|error: )",
        r"FAILED: ",
        r"error: (?:could not compile|aborting due to|test failed|subprocess-exited|metadata-gen)",
        r"\[ERROR\] (?:COMPILATION ERROR|Tests run:)",
        r"FAILURE: Build failed",
        r"exit status \d",
        r"error: \d{1,6} (?:error|target)",
        r".{0,200}CodeCache is full",
        r"test .{1,300} \.\.\. FAILED",
        r"npm (?:error|ERR!) (?:code|errno|syscall|path|command|dest|cwd|Lifecycle script)\b",
    ),
    # --- a tool's own message
    _recogniser(
        "make",
        Rank.MESSAGE,
        "***",
        r"(?:\S{0,200}/)?g?make(?:\[\d{1,4}\])?: \*\*\* ",
        r"[^:]{1,300}:\d{1,7}: \*\*\* ",
    ),
    _recogniser(
        "npm", Rank.MESSAGE, "npm err", r"npm (?:error|ERR!) (?!A complete log)\S"
    ),
    _recogniser(
        "Maven",
        Rank.MESSAGE,
        "[error],[fatal]",
        r"\[(?:ERROR|FATAL)\] {1,4}(?!\[Help|To see|Re-run|For more|-> )\S",
    ),
    _recogniser("Gradle", Rank.MESSAGE, "what went wrong", r"\* What went wrong:"),
    _recogniser(
        "killed",
        Rank.MESSAGE,
        "segmentation fault,killed,aborted,bus error,illegal instruction,floating point,trap",
        r"(?:[^:]{1,300}: line \d{1,6}: {1,4}\d{1,10} )?(?:Segmentation fault|Killed|Aborted|Bus error"
        r"|Illegal instruction|Floating point exception|Trace/breakpoint trap)(?:\s|$)",
    ),
    _recogniser(
        "message",
        Rank.MESSAGE,
        "error,fatal,panic,failed",
        _TOOL
        + r"(?:= note: )?"
        + _TOOL
        + r"(?i:fatal error|error|fatal|panic|failed)(?:: |! )",
    ),
)
"""Tried in this order; the first match recognises the line. Its rank decides which line is shown."""

_WORDS = {word for recogniser in RECOGNISERS for word in recogniser.keywords}
_KEYWORDS = tuple(
    sorted(word for word in _WORDS if not any(o in word for o in _WORDS - {word}))
)
"""All keywords except those that contain another. They are searched one by one, because one pattern with so many
alternatives takes ten times as long.
"""
_TRACEBACK = re.compile(r"\s*(?:[|+] ){0,4}Traceback \(most recent call last\):")
_WARNING = re.compile(
    r"(?:\[warn(?:ing)?\]|npm warn|warning: (?!\w{2,20}Sanitizer: )|.{0,200}?: warning: )",
    re.IGNORECASE,
)
"""Matches warnings, which are not errors whatever words they contain."""
_ONLY_MARKS = re.compile(
    r"(?:\[(?:INFO|ERROR|WARNING)\]|npm (?:error|ERR!))?[\s~^|#=*-]*"
)
"""Matches lines without words, which are no context."""


def recognise(line: str) -> Recogniser | None:
    """Return the recogniser of the error in the first MATCH_CHARACTERS of `line`, if any."""
    start = line[:MATCH_CHARACTERS].lstrip()
    lower = start.lower()
    if not any(word in lower for word in _KEYWORDS) or _WARNING.match(start):
        return None
    return next(
        (recogniser for recogniser in RECOGNISERS if recogniser.pattern.match(start)),
        None,
    )


PYTHON = Recogniser(
    "Python",
    Rank.CAUSE,
    (),
    re.compile(""),
    re.compile(r"\s*" + _EXCEPTION + "(?:: |$)"),
)
"""The recogniser of the line that ends a traceback, whatever the exception's name."""


class _Candidate:
    """The best line so far, while later lines are still added to its excerpt."""

    def __init__(
        self, recogniser: Recogniser, before: tuple[str, ...], line: str
    ) -> None:
        self.recogniser, self.before, self.line = recogniser, before, line
        self._after: list[str] = []
        self._further: deque[str] = deque(maxlen=FURTHER_LINES)
        self._seen = 0
        self._ended = False

    @property
    def is_complete(self) -> bool:
        return self._ended or self._seen >= (
            FURTHER_WITHIN if self.recogniser.further else CONTEXT_LINES
        )

    def follow(self, line: str, rank: Rank | None) -> None:
        """Add a later line. `rank` is that line's own rank: an error of the same rank ends this excerpt."""
        self._seen += 1
        if self._seen <= CONTEXT_LINES:
            self._after.append(line)
        elif self.recogniser.further and self.recogniser.further.match(
            line[:MATCH_CHARACTERS]
        ):
            self._further.append(line)
        elif rank is not None and rank >= self.recogniser.rank:
            self._ended = True

    def excerpt(self) -> Excerpt:
        after = [*self._after, *self._further]
        return Excerpt(
            self.recogniser.name,
            tuple(_shorten(line, CONTEXT_CHARACTERS) for line in self.before),
            _shorten(self.line.strip(), ERROR_CHARACTERS),
            tuple(_shorten(line, CONTEXT_CHARACTERS) for line in after),
        )


class _Output:
    """The state of one channel: its last lines and its traceback."""

    def __init__(self) -> None:
        self.lines = LineSplitter()
        self.last: deque[str] = deque(maxlen=FALLBACK_LINES)
        self._traceback: int | None = None
        """Columns before the current `Traceback`, None outside of one."""
        self._frames = 0

    def recognise(self, line: str) -> Recogniser | None:
        """Return the recogniser of a line; of a traceback only the last line counts, because its frames quote source."""
        if _TRACEBACK.match(line[:MATCH_CHARACTERS]):
            self._traceback, self._frames = _indent(line), 0
            return None
        if self._traceback is None:
            return recognise(line)
        if _indent(line) > self._traceback:
            self._frames += 1
            return None
        ended = self._frames > 0
        self._traceback = None
        recogniser = recognise(line)
        if ended and (recogniser is None or recogniser.rank <= Rank.CAUSE):
            return (
                PYTHON
                if recogniser is None or recogniser.name in ("exception", "Java")
                else recogniser
            )
        return recogniser


class ErrorFinder:
    """Reads output as it comes and finds the excerpt that a person should see."""

    def __init__(self) -> None:
        self._outputs: dict[Channel, _Output] = {}
        self._best: _Candidate | None = None
        self._best_output: _Output | None = None

    def feed(self, channel: Channel, data: bytes) -> None:
        """Take the next bytes of one output, in pieces of any size."""
        output = self._output(channel)
        for line in output.lines.feed(data):
            self._take(output, line)

    def feed_lines(self, channel: Channel, lines: list[str]) -> None:
        """Take the next lines of one output."""
        for line in lines:
            self._take(self._output(channel), line)

    def excerpt(self) -> Excerpt | None:
        """Return the excerpt, at the end of the output; None if nothing was printed."""
        for output in self._outputs.values():
            for line in output.lines.close():
                self._take(output, line)
        if self._best is not None:
            return self._best.excerpt()
        order: tuple[Channel, ...] = ("stderr", "stdout")
        printed = [self._outputs[name] for name in order if name in self._outputs]
        last = next((output.last for output in printed if output.last), None)
        if last is None:
            return None
        return Excerpt(
            None, tuple(_shorten(line, CONTEXT_CHARACTERS) for line in last), ""
        )

    def _output(self, channel: Channel) -> _Output:
        return self._outputs.setdefault(channel, _Output())

    def _take(self, output: _Output, raw: str) -> None:
        if not raw:
            return
        line = readable_line(raw)
        if _ONLY_MARKS.fullmatch(line[: 8 * MATCH_CHARACTERS].lstrip()):
            return
        following = (
            self._best is not None
            and output is self._best_output
            and not self._best.is_complete
        )
        recogniser = output.recognise(line)
        if recogniser is not None and (
            self._best is None or recogniser.rank > self._best.recogniser.rank
        ):
            before = tuple(output.last)[-CONTEXT_LINES:]
            self._best = _Candidate(recogniser, before, line)
            self._best_output = output
        elif following and self._best is not None:
            self._best.follow(line, recogniser.rank if recogniser else None)
        output.last.append(line)


def first_error(text: str) -> Excerpt | None:
    """Return the excerpt of a whole text, such as a log on disk."""
    finder = ErrorFinder()
    finder.feed("stderr", text.encode("utf-8", "replace"))
    return finder.excerpt()


def main() -> None:
    """Print the excerpt of standard input, for scripts: `python -m paceline.first_error`."""
    finder = ErrorFinder()
    while data := sys.stdin.buffer.read(1 << 16):
        finder.feed("stderr", data)
    excerpt = finder.excerpt()
    sys.stdout.write((excerpt.render() if excerpt else "It printed nothing.") + "\n")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" |+"))


def _shorten(line: str, characters: int) -> str:
    """Shorten a long line to its beginning and its end, which tell what failed and why."""
    if len(line) <= characters:
        return line
    end = characters // 3
    return f"{line[: characters - end - 3]} … {line[-end:]}"


if __name__ == "__main__":
    main()
