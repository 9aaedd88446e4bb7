"""Texts that are dangerous where a shell might read them: as arguments, file names, benchmark names, params.

Place in the journey: given by tests to whatever builds a command for a device. Invariant: each is a possible
argument (no NUL) and none harms when it is data; whoever lets one become shell leaves a trace in the output
or creates the file MARK. It checks nothing itself.
"""

from __future__ import annotations

MARK = "pwned-by-an-argument"

EVERY_BYTE = [chr(code) for code in range(1, 128)] + ["\udc80", "\udcff", "\udcc3(", "a\udcfeb"]
"""All of ASCII but NUL, one by one, and bytes that are no UTF-8 (as surrogate escapes)."""

EXPANSIONS = [
    "$HOME", "${HOME}", "$$", "$?", "$!", "$#", "$@", "$*", "$-", "$0", "$1", "${IFS}", "${PATH%%:*}", "~", "~root",
    "$((1+1))", f"$(touch {MARK})", f"`touch {MARK}`", f"${{x:-$(touch {MARK})}}", "*", "?", "[a-z]*", "/*",
    "{a,b}", "{1..3}", "!!", "!$", "<(true)", ">(true)", "=ls", "^a^b",
]  # fmt: skip
OPERATORS = [
    f"; touch {MARK}", f"| touch {MARK}", f"|| touch {MARK}", f"&& touch {MARK}", f"& touch {MARK} &", f"\ntouch {MARK}\n",
    f"\r\ntouch {MARK}", f"> {MARK}", f">> {MARK}", f">{MARK}", f"2>{MARK}", f">&{MARK}", f">|{MARK}", "< /dev/null",
    f"<<E\ntouch {MARK}\nE", f"<<<{MARK}", "()", "(", ")", "{ ", " }", ";;", "# comment", "a # b", "\\\n", "a\\\nb",
]  # fmt: skip
QUOTES = [
    "'", '"', "''", '""', "'''", "'\\''", "\\'", '\\"', "\\", "\\\\", "it's", f"'; touch {MARK}; '", f'"; touch {MARK}; "',
    f"'$(touch {MARK})'", f"\"$(touch {MARK})\"", f"'\"'\"$(touch {MARK})\"'\"'", "a'b\"c`d", "$'\\n'", '$"x"',
    f"\\'; touch {MARK}; \\'", f"'\n; touch {MARK}\n'",
]  # fmt: skip
WORDS = [
    "", " ", "  two  blanks  ", "\t", "-", "--", "-n", "-e", "-c", "--help", "if", "then", "while", "!", "{", "}", "[", "[[",
    "A=b", "PATH=/nowhere", "IFS=x", "eval", "exec", "exit", "exit 7", f"eval touch {MARK}", "%s", "%n%n%d", "\\0", "\\n", "\\x41",
    "$(printf '\\1')", "__RC_0000000000000000_0__", "\n__RC_0000000000000000_0__\n", "__GO_0000000000000000__",
    "../../../etc/passwd", "/data/local/tmp/a b", "a,b", "a:b", "shell,v2,raw:x", "sync:", "host:kill",
    "ä ö ü ß", "日本語", "🔥", "e\u0301", "\u202egnp.exe", "\u200b", "\ufeff", "\u2028", "\x1b[31mred\x1b[0m", "\x7f\x08\x08",
    "x" * 1000, "'" * 200, "\\" * 199,
]  # fmt: skip

HOSTILE = EVERY_BYTE + EXPANSIONS + OPERATORS + QUOTES + WORDS
