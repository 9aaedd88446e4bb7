"""Tests that the first error is found in the output of real tools (`captured/`, made by `capture`), within
bounded work. `test_source.py` and `test_executors.py` test sentence, advice and limit.
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline.first_error import (
    CONTEXT_CHARACTERS,
    CONTEXT_LINES,
    ERROR_CHARACTERS,
    FALLBACK_LINES,
    FURTHER_LINES,
    NOTHING_KNOWN,
    RECOGNISERS,
    ErrorFinder,
    Excerpt,
    first_error,
)
from paceline_contract.attempts import MAX_DETAIL

CAPTURED = Path(__file__).with_name("captured")

EXPECTED: dict[str, tuple[str, str]] = {
    "asan_free": (
        "sanitizer",
        "==18130==ERROR: AddressSanitizer: heap-use-after-free on address",
    ),
    "asan_leak": ("sanitizer", "==18186==ERROR: LeakSanitizer: detected memory leaks"),
    "c_assert": ("C library", "main: main.c:4: main: Assertion `c == 2' failed."),
    "c_heap": ("C library", "free(): double free detected in tcache 2"),
    "cargo_dependency": (
        "message",
        "error: failed to get `no_such_crate_here` as a dependency",
    ),
    "cargo_error": ("rustc", "error[E0425]: cannot find value `missing` in this scope"),
    "cargo_linker": (
        "linker",
        "= note: rust-lld: error: unable to find library -lno_such_native",
    ),
    "cargo_test": (
        "Rust panic",
        "thread 'adds_up' (29649) panicked at src/lib.rs:3:5:",
    ),
    "clang_error": (
        "compiler",
        "main.c:2:19: error: invalid operands to binary expression",
    ),
    "cmake_ninja": ("compiler", "/src/main.c:1:25: error: "),
    "cmake_package": ("CMake", "CMake Error at CMakeLists.txt:3 (find_package):"),
    "cmake_syntax": ("CMake", "CMake Error at CMakeLists.txt:3 (no_such_command):"),
    "command_bash": (
        "command not found",
        "run.sh: line 1: no-such-tool: command not found",
    ),
    "command_env": ("command not found", "/usr/bin/env: "),
    "command_make": (
        "command not found",
        "make: no-such-tool: No such file or directory",
    ),
    "command_sh": ("command not found", "run.sh: 1: no-such-tool: not found"),
    "configure_error": (
        "configure",
        "configure: error: no acceptable C compiler found in $PATH",
    ),
    "cxx_throw": (
        "C library",
        "terminate called after throwing an instance of 'std::runtime_error'",
    ),
    "disk_cp": ("disk full", "cat: write error: No space left on device"),
    "disk_full": (
        "disk full",
        "/src/tmp/ccnU3bLi.s: Fatal error: can't write 11 bytes to section .text",
    ),
    "disk_python": ("disk full", "OSError: [Errno 28] No space left on device"),
    "gcc_error": ("compiler", "main.c:2:16: error: "),
    "gcc_header": (
        "compiler",
        "main.c:1:10: fatal error: absent.h: No such file or directory",
    ),
    "gcc_killed": (
        "out of memory",
        "gcc: fatal error: Killed signal terminated program cc1",
    ),
    "gcc_memory": (
        "loader",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1: error while loading shared libraries",
    ),
    "go_error": ("Go", "./main.go:4:2: undefined: missing"),
    "go_module": (
        "Go",
        "main.go:3:8: cannot find module providing package example.invalid/absent",
    ),
    "go_panic": (
        "Go panic",
        "panic: runtime error: index out of range [1] with length 0",
    ),
    "gxx_template": (
        "compiler",
        "/usr/include/c++/12/bits/predefined_ops.h:45:23: error: no match for",
    ),
    "java_exception": (
        "Java",
        'Exception in thread "main" java.lang.IllegalStateException: config is not',
    ),
    "javac_error": ("compiler", "Main.java:3: error: cannot find symbol"),
    "jvm_crash": (
        "JVM crash",
        "#  SIGSEGV (0xb) at pc=0x00007fb00cad2f94, pid=13770, tid=13772",
    ),
    "jvm_hs_err": (
        "JVM crash",
        "#  SIGSEGV (0xb) at pc=0x00007f0eb00d2f94, pid=5200, tid=5201",
    ),
    "jvm_memory": (
        "out of memory",
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
    ),
    "jvm_reserve": (
        "out of memory",
        "# There is insufficient memory for the Java Runtime Environment",
    ),
    "ld_library": (
        "linker",
        "/usr/bin/ld: cannot find -labsent: No such file or directory",
    ),
    "ld_undefined": ("linker", "main.c:(.text+0x5): undefined reference to `absent'"),
    "lld_undefined": ("linker", "ld.lld: error: undefined symbol: absent"),
    "loader_library": (
        "loader",
        "./main: error while loading shared libraries: libabsent.so: cannot open",
    ),
    "make_gcc": ("compiler", "main.c:1:25: error: "),
    "make_script": ("a step failed", "make: *** [Makefile:3: all] Error 1"),
    "make_target": (
        "make",
        "make: *** No rule to make target 'absent.o', needed by 'all'.  Stop.",
    ),
    "maven_codecache": (
        "out of memory",
        "[ERROR] java.lang.VirtualMachineError: Out of space in CodeCache for adapters",
    ),
    "maven_dependency": (
        "Maven",
        "[ERROR] Failed to execute goal on project demo: Could not resolve",
    ),
    "maven_java": (
        "Maven compiler",
        "[ERROR] /src/src/main/java/demo/Main.java:[3,13] cannot find symbol",
    ),
    "maven_kotlin": (
        "Maven compiler",
        "[ERROR] file:///src/src/main/kotlin/Main.kt:2:13 Unresolved reference 'missing'.",
    ),
    "maven_plugin": (
        "Maven",
        "[ERROR] Plugin demo.absent:absent-maven-plugin:9.9.9 or one of its",
    ),
    "maven_unreachable": (
        "Maven",
        "[ERROR] Plugin org.apache.maven.plugins:maven-resources-plugin:2.6 or",
    ),
    "node_throw": ("exception", "TypeError: no figures"),
    "npm_missing": ("npm", 'npm error Missing script: "build"'),
    "npm_offline": (
        "npm",
        "npm error request to https://registry.example/left-pad failed: cache mode is",
    ),
    "npm_script": ("exception", "Error: Cannot find module './absent'"),
    "npm_typescript": (
        "TypeScript or MSVC",
        "main.ts(1,7): error TS2322: Type 'string' is not assignable",
    ),
    "permission_mkdir": ("permission denied", "mkdir: cannot create directory "),
    "permission_python": (
        "permission denied",
        "PermissionError: [Errno 13] Permission denied",
    ),
    "permission_sh": ("permission denied", "sh: 1: ./tool: Permission denied"),
    "pip_build": ("Python", "RuntimeError: libfoo is needed to build demo"),
    "pip_missing": (
        "message",
        "ERROR: Could not find a version that satisfies the requirement",
    ),
    "python_chained": (
        "Python",
        "FileNotFoundError: [Errno 2] No such file or directory: 'absent.toml'",
    ),
    "python_module": ("Python", "ModuleNotFoundError: No module named 'absent_module'"),
    "python_syntax": ("exception", "SyntaxError: invalid syntax"),
    "python_traceback": ("Python", "KeyError: 'figures'"),
    "rust_panic": ("Rust panic", "thread 'main' (29705) panicked at main.rs:4:21:"),
    "rustc_error": ("rustc", "error[E0308]: mismatched types"),
    "shell_killed": ("killed", "run.sh: line 2: 13564 Killed"),
    "shell_segv": ("killed", "run.sh: line 2: 13556 Segmentation fault"),
    "tsan_race": ("sanitizer", "WARNING: ThreadSanitizer: data race (pid=18246)"),
    "ubsan_overflow": (
        "sanitizer",
        "main.c:5:5: runtime error: signed integer overflow: 2147483647 + 1",
    ),
}

AROUND: dict[str, str] = {
    "asan_free": "SUMMARY: AddressSanitizer: heap-use-after-free /src/main.c:5 in main",
    "cargo_error": "  |                    ^^^^^^^ not found in this scope",
    "cmake_syntax": '  Unknown CMake command "no_such_command".',
    "cxx_throw": "  what():  no figures",
    "go_panic": "        /src/main.go:7 +0x10",
    "java_exception": 'Caused by: java.lang.NumberFormatException: For input string: "twelve"',
    "jvm_crash": "# V  [libjvm.so+0xed2f94]  Unsafe_PutLong+0x124",
    "ld_undefined": "/usr/bin/ld: /src/tmp/ccHmSLNG.o: in function `main':",
    "npm_offline": "npm error code ENOTCACHED",
    "python_chained": "RuntimeError: no configuration",
    "python_traceback": '  File "/src/main.py", line 2, in read',
    "rust_panic": "index out of bounds: the len is 0 but the index is 1",
    "rustc_error": "  |            ---   ^^^^^^ expected `i32`, found `&str`",
}
"""A line of the excerpt that says where or why, where the error's own line does not."""


def excerpt_of(name: str) -> Excerpt:
    result = first_error((CAPTURED / f"{name}.txt").read_text(encoding="utf-8"))
    assert result is not None
    return result


def test_every_captured_output_is_expected_and_every_recogniser_but_the_named_has_one() -> (
    None
):
    assert {path.stem for path in CAPTURED.glob("*.txt")} == EXPECTED.keys()
    seen = {name for name, _ in EXPECTED.values()}
    absent_here = {"Kotlin", "Meson", "Gradle"}
    assert {each.name for each in RECOGNISERS} - seen == absent_here


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_line_a_person_needs_is_found_in_what_a_real_tool_printed(
    name: str,
) -> None:
    result = excerpt_of(name)
    recogniser, line = EXPECTED[name]
    assert result.line.startswith(line)
    assert result.name == recogniser


@pytest.mark.parametrize("name", sorted(AROUND))
def test_the_lines_around_it_say_where_or_why(name: str) -> None:
    result = excerpt_of(name)
    assert AROUND[name] in (*result.before, *result.after)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_excerpt_is_short_and_free_of_escapes_and_tabs(name: str) -> None:
    result = excerpt_of(name)
    assert len(result.before) <= CONTEXT_LINES
    assert len(result.after) <= CONTEXT_LINES + FURTHER_LINES
    assert all(
        0 < len(line) <= CONTEXT_CHARACTERS for line in (*result.before, *result.after)
    )
    assert 0 < len(result.line) <= ERROR_CHARACTERS
    text = result.render()
    assert not {"\x1b", "\t", "\r"} & set(text)
    assert len(text) < MAX_DETAIL * 3 // 4


def test_of_a_long_line_the_reason_at_its_end_is_kept() -> None:
    assert excerpt_of("maven_unreachable").line.endswith(
        "failed: Connection refused -> [Help 1]"
    )
    result = first_error("error: " + "x" * 5000 + " reason")
    assert result is not None
    assert result.line.startswith("error: x")
    assert len(result.line) <= ERROR_CHARACTERS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("e: file:///src/Main.kt:2:13 Unresolved reference 'missing'.", "Kotlin"),
        ('meson.build:3:0: ERROR: Dependency "absent" not found', "Meson"),
        ("* What went wrong:\nExecution failed for task ':compileKotlin'.", "Gradle"),
        (
            'CANNOT LINK EXECUTABLE "./ledger": library "libabsent.so" not found',
            "loader",
        ),
        (
            "cc1plus: fatal error: Killed signal terminated program cc1plus",
            "out of memory",
        ),
        (
            "FATAL ERROR: Reached heap limit - JavaScript heap out of memory",
            "out of memory",
        ),
    ],
)
def test_tools_that_are_not_on_the_capturing_machine_are_known_by_their_documented_form(
    text: str, name: str
) -> None:
    result = first_error(text)
    assert result is not None
    assert result.name == name


@pytest.mark.parametrize(
    "text",
    [
        "0 errors, 0 warnings",
        "   Compiling thiserror v2.0.3",
        "test parses_error_messages ... ok",
        "main.c:3:5: warning: unused variable 'error' [-Wunused-variable]",
        "[WARNING] could not write the cache: Permission denied",
        "npm warn EBADENGINE error: unsupported engine",
        "checking for error_at_line... yes",
    ],
)
def test_a_line_that_only_names_errors_is_none(text: str) -> None:
    result = first_error(text)
    assert result is not None
    assert result.name is None


def test_the_first_of_two_equal_errors_stands_and_a_telling_one_beats_a_summary_before_it() -> (
    None
):
    first = first_error("a.c:1:1: error: one\nb.c:2:2: error: two\n")
    assert first is not None
    assert first.line == "a.c:1:1: error: one"
    late = first_error(
        "make: *** [all] Error 1\nerror: tool failed\nb.c:2:2: error: two\n"
    )
    assert late is not None
    assert late.line == "b.c:2:2: error: two"


def test_lines_further_on_that_belong_to_another_error_are_left_out() -> None:
    second = "error[E0425]: not found\n --> b.rs:2:2\n2 | b\n  | ^ of the second\n"
    result = first_error(
        f"error[E0308]: mismatched\n --> a.rs:1:1\n1 | a\n  | ^ of the first\n{second}"
    )
    assert result is not None
    assert result.after == (" --> a.rs:1:1", "1 | a", "  | ^ of the first")


def test_where_nothing_is_known_the_last_lines_of_standard_error_stand_in_and_it_says_so() -> (
    None
):
    finder = ErrorFinder()
    finder.feed("stdout", b"out\n" * 50)
    finder.feed("stderr", b"".join(b"step %d\n\n" % number for number in range(20)))
    result = finder.excerpt()
    assert result is not None
    assert result.name is None
    assert result.before == tuple(
        f"step {number}" for number in range(20 - FALLBACK_LINES, 20)
    )
    assert result.render().startswith(NOTHING_KNOWN + "\n  | step 15\n")


def test_without_standard_error_the_end_of_standard_output_stands_in() -> None:
    finder = ErrorFinder()
    finder.feed("stdout", b"only here")
    result = finder.excerpt()
    assert result is not None
    assert result.before == ("only here",)
    assert ErrorFinder().excerpt() is None


def test_lines_of_the_other_output_are_no_context() -> None:
    finder = ErrorFinder()
    finder.feed("stderr", b"main.c: In function 'main':\n")
    finder.feed("stdout", b"[ 50%] Building\n")
    finder.feed("stderr", b"main.c:1:1: error: bad\n")
    finder.feed("stdout", b"[100%] Linking\n")
    finder.feed("stderr", b"    1 | source\n")
    result = finder.excerpt()
    assert result is not None
    assert result.before == ("main.c: In function 'main':",)
    assert result.after == ("    1 | source",)


def test_of_a_progress_bar_only_what_it_showed_last_is_a_line() -> None:
    result = first_error(
        "\rdownloading 1 %\rdownloading 99 %\rerror: connection reset\r\n"
    )
    assert result is not None
    assert result.render() == "  > error: connection reset"


@given(st.binary(max_size=3000), st.lists(st.integers(1, 400), max_size=12))
def test_any_bytes_in_any_pieces_give_the_same_excerpt(
    data: bytes, sizes: list[int]
) -> None:
    whole, pieces = ErrorFinder(), ErrorFinder()
    whole.feed("stderr", data)
    at = 0
    for size in sizes:
        pieces.feed("stderr", data[at : at + size])
        at += size
    pieces.feed("stderr", data[at:])
    assert whole.excerpt() == pieces.excerpt()


HOSTILE = {
    "one huge line": b"error" + b"a" * 4000,
    "colons": b"a:" * 2000 + b"error",
    "escapes": b"\x1b[" * 1000 + b"0;" * 1000,
    "titles that never end": b"\x1b]0;title" * 400,
    "blanks": b" " * 4000 + b"error\n",
    "qualified names": b"a." * 2000 + b"Error\n",
    "keywords": b"error memory undefined panic killed not found denied " * 80 + b"\n",
    "tracebacks": b"Traceback (most recent call last):\n  File\n" * 90,
    "returns": b"error: x\r" * 450,
    "empty lines": b"\n" * 4000,
    "tabs": b"\t" * 4000 + b"error\n",
}


@pytest.mark.parametrize("shape", sorted(HOSTILE))
def test_hostile_output_costs_no_more_per_byte_when_there_is_more_of_it(
    shape: str,
) -> None:
    """The large input is 64 times the small one: linear work takes 64 times as long, quadratic work 4,096 times.
    The limit of 512 leaves a margin of 8 on either side. CPU time of this thread counts, the least of several
    tries, and the small input is read so often that its time is far above the clock's resolution."""

    def least_cpu_time(data: bytes, loops: int) -> float:
        def cpu_time_of_one_excerpt() -> float:
            begun = time.thread_time()
            for _ in range(loops):
                finder = ErrorFinder()
                for at in range(0, len(data), 65536):
                    finder.feed("stderr", data[at : at + 65536])
                finder.excerpt()
            return (time.thread_time() - begun) / loops

        return min(cpu_time_of_one_excerpt() for _ in range(3))

    small, large = HOSTILE[shape], HOSTILE[shape] * 64
    assert least_cpu_time(large, loops=1) < 512 * least_cpu_time(small, loops=16)


def test_memory_does_not_grow_with_the_output() -> None:
    """8 MB in one line, then 1 MB in lines: a few hundred kilobytes are held."""
    block = b"x" * 65536
    lines = b"error: an ordinary line of a build log\n" * 1680
    finder = ErrorFinder()
    tracemalloc.start()
    try:
        for _ in range(128):
            finder.feed("stderr", block)
        for _ in range(16):
            finder.feed("stderr", lines)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20
