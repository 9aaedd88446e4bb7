"""Tests of parsing cores, clocks and clusters, also with offline cores and refused files."""

from __future__ import annotations

import pytest
from paceline.devices.parsers.frequencies import (
    policies,
    time_between,
    time_in_state,
    unread_frequencies,
)
from paceline.devices.parsers.processors import cpu_parts, parse_cores
from paceline.devices.topology import choose_cluster, clusters

CPU = "/sys/devices/system/cpu"
SIXTY_FOUR = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics"
THIRTY_TWO = "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt lpae evtstrm aes pmull sha1 sha2 crc32"


def core(
    number: int, part: str, implementer: str = "0x41", features: str = SIXTY_FOUR
) -> str:
    return (
        f"processor\t: {number}\nBogoMIPS\t: 38.40\nFeatures\t: {features}\n"
        f"CPU implementer\t: {implementer}\nCPU architecture: 8\nCPU variant\t: 0x2\n"
        f"CPU part\t: {part}\nCPU revision\t: 1\n\n"
    )


EIGHT = "".join(core(n, "0xd05") for n in range(4)) + "".join(
    core(n, "0xd0d") for n in range(4, 8)
)


def policy(first: int, cpus: str, top: int, **more: object) -> dict[str, str]:
    where = f"{CPU}/cpufreq/policy{first}"
    files = {
        "related_cpus": cpus,
        "cpuinfo_max_freq": top,
        "cpuinfo_min_freq": 300000,
        "scaling_max_freq": top,
        "scaling_min_freq": 300000,
        "scaling_cur_freq": 300000,
        "scaling_governor": "walt",
        **more,
    }
    return {
        f"{where}/{name}": f"{value}\n"
        for name, value in files.items()
        if value is not None
    }


PHONE = (
    policy(0, "0 1 2 3", 1804800)
    | policy(4, "4 5 6", 2419200)
    | policy(7, "7", 3187200)
)


def test_cores_are_known_by_implementer_and_part_without_a_model_name() -> None:
    info = parse_cores(EIGHT)
    assert [item.name for item in info] == ["Cortex-A55"] * 4 + ["Cortex-A77"] * 4
    assert parse_cores(core(0, "0x7ff", "0x99"))[0].name == "0x99/0x7ff"
    assert cpu_parts(EIGHT) == ["0x41:0xd05", "0x41:0xd0d"]


def test_the_kinds_of_cores_do_not_change_while_some_are_offline() -> None:
    some = core(0, "0xd05") + core(6, "0xd0d") + "Hardware\t: MT6799\n"
    assert cpu_parts(some) == cpu_parts(EIGHT)
    assert [parse_core.number for parse_core in parse_cores(some)] == [0, 6]


def test_a_refused_text_has_no_cores() -> None:
    assert parse_cores("cat: /proc/cpuinfo: Permission denied\n") == []
    assert parse_cores("") == []


def test_what_old_kernels_say_once_holds_for_every_core() -> None:
    text = (
        "Processor\t: ARMv7 Processor rev 3 (v7l)\nprocessor\t: 0\nBogoMIPS\t: 38.00\n\nprocessor\t: 1\n"
        "BogoMIPS\t: 38.00\n\nFeatures\t: swp half thumb neon vfpv4\nCPU implementer\t: 0x51\n"
        "CPU part\t: 0x06f\nHardware\t: Qualcomm MSM8974\n"
    )
    info = parse_cores(text)
    assert [(item.number, item.part) for item in info] == [(0, 0x6F), (1, 0x6F)]
    assert info[0].model == "ARMv7 Processor rev 3 (v7l)"


def test_an_x86_emulator_is_read_by_its_model() -> None:
    text = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Android virtual processor\n"
    text += "flags\t: sse2 sha_ni\n"
    info = parse_cores(text)
    assert info[0].name == "Android virtual processor"
    assert cpu_parts(text) == ["Android virtual processor"]


def test_a_policy_is_read_once_however_often_its_cores_list_it() -> None:
    by_core = {
        f"{CPU}/cpu{number}/cpufreq/{name}": text
        for number in range(4)
        for name, text in (
            ("related_cpus", "0-3\n"),
            ("scaling_max_freq", "1804800\n"),
            ("cpuinfo_max_freq", "1804800\n"),
        )
    }
    (item,) = policies(by_core)
    assert (item.cpus, item.cap_khz, item.now_khz, item.governor) == (
        (0, 1, 2, 3),
        1804800,
        None,
        None,
    )


def test_a_frequency_of_zero_or_a_refusal_is_unknown() -> None:
    (item,) = policies(
        policy(
            0,
            "0",
            1804800,
            scaling_cur_freq=0,
            scaling_max_freq="Permission denied",
            scaling_governor="a b",
        )
    )
    assert (item.now_khz, item.cap_khz, item.governor, item.locked) == (
        None,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "khz"),
    [
        (1804800, 1804800),
        ("1804800 kHz\r", 1804800),
        ("1804.8 MHz", 1804800),
        ("1,8048 GHz", 1804800),
        (1804800000, 1804800),
        (1804, None),
        (-1, None),
        ("<unsupported>", None),
        ("<unknown>", None),
        ("Error: -16", None),
        ("", None),
    ],
)
def test_a_clock_has_a_known_unit_or_it_is_listed_and_hides_no_other(
    text: str | int, khz: int | None
) -> None:
    files = policy(0, "0-3", 1804800, scaling_cur_freq=text)
    (item,) = policies(files)
    assert (item.now_khz, item.cap_khz) == (khz, 1804800)
    unread = [] if khz else [f"cpufreq/policy0/scaling_cur_freq: {text}"]
    assert unread_frequencies(files) == unread


def test_a_clock_is_locked_where_its_floor_is_its_cap() -> None:
    (item,) = policies(policy(0, "0", 1804800, scaling_min_freq=1804800))
    assert item.locked is True
    assert policies(PHONE)[0].locked is False


def test_time_in_state_tells_the_mean_and_the_share_at_the_top() -> None:
    before = policies(
        policy(4, "4", 2000000, **{"stats/time_in_state": "1000000 500\n2000000 100"})
    )[0]
    after = policies(
        policy(4, "4", 2000000, **{"stats/time_in_state": "1000000 600\n2000000 400"})
    )[0]
    result = time_between(before, after)
    assert result is not None
    assert (result.ms, result.mean_khz, result.at_top) == (4000, 1750000, 0.75)
    assert time_between(after, before) is None
    assert time_between(before, before) is None
    assert time_between(policies(PHONE)[1], after) is None


def test_lines_of_time_in_state_that_are_no_pairs_are_left_out() -> None:
    assert time_in_state(
        "cpu0 cpu1\n300000 7\nN/A 3\n600000 N/A\n900000 1 2\n0 5\n"
    ) == {300000: 70}


def test_clusters_are_ordered_and_give_masks_for_taskset() -> None:
    result = clusters(PHONE | {f"{CPU}/online": "0-7\n"}, parse_cores(EIGHT))
    assert [(item.cpus, item.mask, item.max_khz) for item in result] == [
        ((0, 1, 2, 3), "f", 1804800),
        ((4, 5, 6), "70", 2419200),
        ((7,), "80", 3187200),
    ]
    assert result[2].core == "Cortex-A77"


def test_measuring_is_on_the_fastest_cluster_with_room_for_the_runtimes_own_threads() -> (
    None
):
    result = clusters(PHONE, parse_cores(EIGHT))
    best = choose_cluster(result)
    assert best is not None
    assert best.cpus == (4, 5, 6)
    single = choose_cluster(clusters(policy(0, "0", 1804800), parse_cores("")))
    assert single is not None
    assert single.mask == "1"


def test_offline_cores_are_in_no_mask() -> None:
    result = clusters(PHONE | {f"{CPU}/online": "0-3,5,7\n"}, parse_cores(EIGHT))
    assert [item.mask for item in result] == ["f", "20", "80"]
    best = choose_cluster(result)
    assert best is not None
    assert best.mask == "f"


def test_cores_without_a_clock_are_grouped_by_what_they_are_and_never_called_slow() -> (
    None
):
    little = policy(0, "0 1 2 3", 1440000)
    info = parse_cores(
        "".join(core(n, "0xd03") for n in range(4))
        + core(4, "0xd07")
        + core(5, "0xd07")
    )
    result = clusters(little, info)
    assert [(item.cpus, item.max_khz) for item in result] == [
        ((0, 1, 2, 3), 1440000),
        ((4, 5), None),
    ]
    best = choose_cluster(result)
    assert best is not None
    assert best.cpus == (0, 1, 2, 3)


def test_cores_with_a_policy_each_are_one_cluster_when_they_are_alike() -> None:
    files: dict[str, str] = {}
    for number in range(8):
        files |= policy(number, str(number), 1804800 if number < 4 else 2419200)
        files[f"{CPU}/cpu{number}/cpu_capacity"] = "380\n" if number < 4 else "1024\n"
    result = clusters(files, parse_cores(EIGHT))
    assert [(item.cpus, item.capacity) for item in result] == [
        ((0, 1, 2, 3), 380),
        ((4, 5, 6, 7), 1024),
    ]


def test_a_device_that_tells_no_clocks_is_not_pinned() -> None:
    assert choose_cluster(clusters({}, parse_cores(EIGHT))) is None
    assert clusters({}, parse_cores("")) == []


def test_what_follows_a_list_of_processors_without_blank_lines_is_everyones() -> None:
    """Kernel 3.10 of 64 bits."""
    text = "Processor\t: AArch64 Processor rev 4 (aarch64)\n" + "".join(
        f"processor\t: {number}\n" for number in range(8)
    )
    text += f"Features\t: {SIXTY_FOUR}\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\nCPU revision\t: 4\n\n"
    text += "Hardware\t: Qualcomm Technologies, Inc MSM8953\n"
    info = parse_cores(text)
    assert [(core.number, core.name) for core in info] == [
        (number, "Cortex-A53") for number in range(8)
    ]
    assert info[7].model == "AArch64 Processor rev 4 (aarch64)"


def test_two_cores_that_say_what_they_are_keep_it_beside_one_that_does_not() -> None:
    info = parse_cores(core(0, "0xd05") + "processor\t: 1\n\n" + core(2, "0xd0d"))
    assert [item.part for item in info] == [0xD05, None, 0xD0D]
