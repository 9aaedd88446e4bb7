"""Tests of choosing the section and the ABI that a workload is built for."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.destination import HOST, Destination, build_for
from paceline.git import SourceError
from paceline.launches import launches_of_revision
from paceline.manifest import parse
from paceline.selection import Selection, check_selection
from paceline.source import Prepared, prepare, prepare_in_place
from paceline.stop import Stop
from paceline.testing.suites import MANIFEST
from paceline_contract.manifest import TargetBuild, Workload

from .test_source import MANIFEST_PATH, Shop, commit_manifest

BUILT = TargetBuild(
    build=[["sh", "build.sh", "android", "{abi}"]],
    artifacts=["build/{abi}/w"],
    run=["{artifacts}/w", "--abi={abi}"],
    calibrate=["{artifacts}/w", "--pace", "{abi}"],
)
PHONE = Destination("device", ("arm64-v8a", "armeabi-v7a"))
EMULATOR = Destination("device", ("x86_64", "arm64-v8a"))
MAKE = "import sys, pathlib; p = pathlib.Path('out', sys.argv[1]); p.mkdir(parents=True, exist_ok=True)"
SECTION = f"""[workloads.android]
build = [["python3", "-c", "{MAKE}; (p / 'w').write_text(sys.argv[1])", "{{abi}}"]]
artifacts = ["out/{{abi}}/w"]
run = ["{{artifacts}}/w"]
"""
FOR_DEVICES = MANIFEST.replace("[benchmarks.sort]", SECTION + "\n[benchmarks.sort]", 1)


def test_a_device_gets_its_best_abi_that_the_workload_is_built_for() -> None:
    workload = Workload("w", android=BUILT)
    for_phone, for_emulator = build_for(workload, PHONE), build_for(workload, EMULATOR)
    assert (for_phone.abis, for_emulator.abis) == (["arm64-v8a"], ["x86_64"])
    assert for_phone.build == [["sh", "build.sh", "android", "arm64-v8a"]]
    assert for_phone.artifacts == ["build/arm64-v8a/w"]
    assert for_phone.run == ["{artifacts}/w", "--abi=arm64-v8a"], (
        "where artifacts lie is not known yet"
    )
    assert for_phone.calibrate == ["{artifacts}/w", "--pace", "arm64-v8a"]
    assert (
        build_for(Workload("w", android=TargetBuild([], ["w"], ["w"])), PHONE).calibrate
        == []
    )


def test_the_order_of_a_device_counts_and_not_that_of_the_manifest() -> None:
    both = Workload(
        "w", android=TargetBuild([], ["w"], ["w"], abis=["armeabi-v7a", "arm64-v8a"])
    )
    assert build_for(both, PHONE).abis == ["arm64-v8a"]
    old = Destination("device", ("armeabi-v7a", "armeabi"))
    assert build_for(both, old).abis == ["armeabi-v7a"]


@pytest.mark.parametrize(
    ("workload", "destination", "says"),
    [
        (Workload("w", android=BUILT), HOST, r"no \[workloads.host\]"),
        (Workload("w", host=BUILT), PHONE, r"no \[workloads.android\]"),
        (
            Workload("w", android=BUILT),
            Destination("device", ("x86",)),
            "arm64-v8a, x86_64; .* runs x86",
        ),
        (
            Workload("w", android=BUILT),
            Destination("device"),
            "runs none that is known",
        ),
    ],
)
def test_a_workload_that_is_not_built_for_a_target_says_what_is_missing(
    workload: Workload, destination: Destination, says: str
) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        build_for(workload, destination)
    assert caught.value.cause == "suite_invalid"


def test_a_hosts_section_is_taken_as_it_stands() -> None:
    assert build_for(Workload("w", host=BUILT, android=BUILT), HOST) is BUILT


@pytest.fixture
def shop(tmp_path: Path, suite_repository: Path) -> Shop:
    return Shop(tmp_path / "data", suite_repository)


def built(shop: Shop, commit: str, destination: Destination) -> Prepared:
    shop.log.clear()
    return prepare(
        shop.repository,
        commit,
        MANIFEST_PATH,
        benchmarks=[],
        cache=shop.cache,
        log=shop.log.extend,
        stop=Stop(),
        destination=destination,
    )


def test_each_abi_has_an_artifact_of_its_own_with_a_hash_of_its_own_built_once(
    shop: Shop, suite_repository: Path
) -> None:
    commit = commit_manifest(suite_repository, FOR_DEVICES)
    arm, x86, host = (built(shop, commit, each) for each in (PHONE, EMULATOR, HOST))
    assert (arm.built.directories["sorts"] / "w").read_text() == "arm64-v8a"
    assert (x86.built.directories["sorts"] / "w").read_text() == "x86_64"
    assert (host.built.directories["sorts"] / "sorts.py").is_file()
    assert len({each.built.artifact_hash for each in (arm, x86, host)}) == 3
    again = built(shop, commit, Destination("device", ("arm64-v8a",)))
    assert any("found in the artifact cache" in line for line in shop.log), (
        "another phone, the same ABI"
    )
    assert again.built == arm.built


def test_launches_run_what_was_built_for_the_destination(
    tmp_path: Path, suite_repository: Path
) -> None:
    (suite_repository / MANIFEST_PATH).write_text(FOR_DEVICES)
    manifest = parse(FOR_DEVICES.encode(), MANIFEST_PATH)
    prepared = prepare_in_place(
        manifest,
        suite_repository / MANIFEST_PATH,
        revision="here",
        workloads=["sorts"],
        out=tmp_path / "out",
        log=lambda _: None,
        stop=Stop(),
        destination=PHONE,
    )
    (spec,) = launches_of_revision(
        prepared, check_selection(manifest, Selection([], launches=1))
    )
    assert spec.argv[0] == str(tmp_path / "out" / "sorts" / "w")
