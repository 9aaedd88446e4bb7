"""Tests the hashing suite's JVM workload for Android's runtime without a phone: its DEX file and JNI library.

They find what a phone would refuse at once: a bootstrap method ART lacks, a missing class, a symbol Android does not
export. Only a device can prove a digest. The workload is an experiment (`native/hashing/art.toml`).
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import zipfile
import zlib
from hashlib import sha1
from pathlib import Path

import pytest
from paceline.destination import Destination, build_for
from paceline.manifest import load
from paceline_contract.testing.waiting import WITHIN_S

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles Kotlin and Rust, on a busy host too."""
HASHING = Path(__file__).resolve().parents[1] / "native" / "hashing"
SUITE, EXPERIMENT = load(HASHING / "suite.toml"), load(HASHING / "art.toml")

ALLOWED = """
__errno __system_property_get abort calloc close dl_iterate_phdr free fstat getauxval getcwd getenv gettid
lseek64 malloc memcmp memcpy memmove memset mmap munmap open posix_memalign pthread_getspecific
pthread_key_create pthread_key_delete pthread_setspecific read readlink realloc realpath stat strlen syscall
write writev
"""
"""Symbols that a library may need from Android's libc from API 26 on. The list is written by hand: a symbol
missing here must be looked up in bionic's libc.map.txt and may be added if it has no later `introduced`.
"""
UNWINDING = re.compile(r"_Unwind_\w+")
"""Symbols of libunwind.a, which an NDK links into the library itself."""


def build(*arguments: str) -> None:
    command = ["sh", str(HASHING / "android.sh"), *arguments]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("ndk", "said"),
    [
        (None, "install one and set ANDROID_NDK_HOME"),
        ("empty", "has no toolchains/llvm/prebuilt/"),
    ],
)
def test_without_an_ndk_the_library_is_not_built_and_the_error_says_what_to_install(
    tmp_path: Path, ndk: str | None, said: str
) -> None:
    (tmp_path / "hashing").mkdir()
    for shared in ("android.sh", "crates.sh"):
        shutil.copy(HASHING.parent / shared, tmp_path)
    script = shutil.copy(HASHING / "android.sh", tmp_path / "hashing")
    environment = {
        name: value for name, value in os.environ.items() if name != "ANDROID_NDK_HOME"
    }
    environment |= {} if ndk is None else {"ANDROID_NDK_HOME": str(tmp_path / ndk)}
    argv = ["sh", str(script), "ledger", "arm64-v8a"]
    done = subprocess.run(
        argv,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert said in line


@pytest.fixture(scope="session")
def dex() -> bytes:
    """The classes, as a phone gets them; Maven builds them only when a source is newer."""
    build("dex", "arm64-v8a")
    with zipfile.ZipFile(HASHING / "build" / "hashing-art.jar") as jar:
        assert jar.namelist() == ["classes.dex"]
        return jar.read("classes.dex")


@pytest.fixture(scope="session")
def symbols() -> list[tuple[str, bool]]:
    """(name, whether the library defines it) of every dynamic symbol of the library for arm64."""
    build("symbols", "arm64-v8a")
    data = (
        HASHING / "build" / "arm64-v8a" / "unlinked" / "libpaceline_hashing.so"
    ).read_bytes()
    assert struct.unpack_from("<H", data, 18) == (183,), "EM_AARCH64"
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, start + size * each)
        for each in range(count)
    ]
    (table,) = [section for section in sections if section[1] == 11]  # SHT_DYNSYM
    names = sections[table[6]][4]
    references = []
    for at in range(table[4] + 24, table[4] + table[5], 24):  # the first is empty
        name, _, _, section = struct.unpack_from("<IBBH", data, at)
        end = data.index(b"\0", names + name)
        references.append((data[names + name : end].decode(), section != 0))
    return references


def test_the_experiment_measures_what_the_suite_measures() -> None:
    for name, benchmark in EXPERIMENT.benchmarks.items():
        same = SUITE.benchmarks[name]
        assert (benchmark.arms, benchmark.reference, benchmark.params) == (
            same.arms,
            same.reference,
            same.params,
        )


def test_no_other_device_is_offered_the_experiment_by_the_suite() -> None:
    assert [item.name for item in SUITE.workloads if item.android is not None] == [
        "piece",
        "engines",
    ]


def test_the_experiment_runs_in_app_process_without_a_shell() -> None:
    run = build_for(EXPERIMENT.workloads[0], Destination("device", ("arm64-v8a",))).run
    assert run[:3] == ["env", "CLASSPATH={artifacts}/hashing-art.jar", "app_process"]
    assert run[-2:] == ["/system/bin", "dev.paceline.art.LedgerKt"]


@pytest.mark.experiment
def test_the_dex_file_is_whole_and_of_a_version_that_api_26_reads(dex: bytes) -> None:
    assert dex[:8] == b"dex\n038\0", "038: API 26 (dalvik executable format)"
    (checksum,) = struct.unpack_from("<I", dex, 8)
    assert checksum == zlib.adler32(dex[12:])
    assert dex[12:32] == sha1(dex[32:], usedforsecurity=False).digest()
    (size,) = struct.unpack_from("<I", dex, 32)
    assert size == len(dex)


@pytest.fixture(scope="session")
def listing(dex: bytes, tmp_path_factory: pytest.TempPathFactory) -> str:
    tool = shutil.which("dexdump")
    if tool is None:
        pytest.skip(
            "this machine has no dexdump, the disassembler of Android's packages"
        )
    file = tmp_path_factory.mktemp("dex") / "classes.dex"
    file.write_bytes(dex)
    done = subprocess.run(
        [tool, "-d", str(file)],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    return done.stdout


METHOD = re.compile(r"\|\[[0-9a-f]+\] ([\w.$\-<>]+):(\(.*)$")
CALL = re.compile(r"invoke-\S+ \{[^}]*\}, L([\w/$\-]+);\.([\w$<>\-]+):(\S+) //")


@pytest.mark.experiment
def test_the_workload_uses_only_bootstrap_methods_that_art_has(
    listing: str,
) -> None:
    """ART has no LambdaMetafactory. Some of Kotlin's library wants it; by calls as they are written, nothing
    of the workload comes there."""
    calls: dict[tuple[str, str], set[tuple[str, str]]] = {}
    dynamic: set[tuple[str, str]] = set()
    method = ("", "")
    for line in listing.splitlines():
        if begins := METHOD.search(line):
            method = (begins[1], begins[2])
            calls[method] = set()
        elif "invoke-custom" in line:
            dynamic.add(method)
        elif call := CALL.search(line):
            calls[method].add((f"{call[1].replace('/', '.')}.{call[2]}", call[3]))
    reached: set[tuple[str, str]] = set()
    ahead = [each for each in calls if each[0].startswith("dev.paceline.")]
    while ahead:
        each = ahead.pop()
        if each not in reached:
            reached.add(each)
            ahead += calls.get(each, ())
    assert any(name.startswith("kotlin.") for name, _ in reached)
    assert not dynamic & reached


@pytest.mark.experiment
def test_the_entry_is_there_and_the_library_has_every_native_method(
    listing: str, symbols: list[tuple[str, bool]]
) -> None:
    classes = set(re.findall(r"Class descriptor  : 'L([\w/$]+);'", listing))
    assert {
        "dev/paceline/art/LedgerKt",
        "dev/paceline/ledger/LedgerHasher",
        "kotlin/Unit",
    } <= classes
    assert not any(name.startswith("java/") for name in classes)
    methods = re.findall(
        r"in L(dev/paceline/ledger/[\w/$]+);\)\n\s+name\s+: '(\w+)'\n.*\n\s+access\s+: .*NATIVE",
        listing,
    )
    bound = {f"Java_{owner.replace('/', '_')}_{name}" for owner, name in methods}
    assert len(bound) >= 10
    assert bound <= {name for name, defined in symbols if defined}


@pytest.mark.experiment
def test_the_library_needs_only_symbols_that_android_has(
    symbols: list[tuple[str, bool]],
) -> None:
    expected = {
        name
        for name, defined in symbols
        if not defined and not UNWINDING.fullmatch(name)
    }
    allowed = set(ALLOWED.split())
    assert expected <= allowed, f"not looked up yet: {sorted(expected - allowed)}"
    assert "malloc" in expected, (
        "it was linked against Android's libc and not against another"
    )


@pytest.mark.experiment
def test_the_library_exports_its_calls_and_nothing_else(
    symbols: list[tuple[str, bool]],
) -> None:
    exported = {name for name, defined in symbols if defined}
    assert not [
        name
        for name in exported
        if not name.startswith(("Java_dev_paceline_", "paceline_sha256_"))
    ]
    assert "Java_dev_paceline_ledger_NativeDigests_abiVersion" in exported
