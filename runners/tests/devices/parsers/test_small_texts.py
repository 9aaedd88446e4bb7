"""Tests of parsing properties, load, pressure, memory, storage and processes."""

from __future__ import annotations

import pytest
from paceline.adb.props import properties, read_properties
from paceline.devices.parsers import resources, storage, top
from paceline.devices.parsers.properties import (
    abis,
    api_level,
    build_factors,
    is_booted,
    is_emulator,
    slow_by_debugging,
)
from paceline.devices.parsers.text_values import (
    cpu_list,
    files_of,
    integer,
    number,
    quantity,
    unread_text,
)

GETPROP = """\
[ro.build.version.sdk]: [34]
[ro.product.cpu.abilist]: [arm64-v8a,armeabi-v7a,armeabi]
[ro.product.model]: [Pixel 8]
[ro.soc.model]: [Tensor G3]
[persist.vendor.colours]: [Red
Green=[dark]
Blue]
[empty]: []
[sys.boot_completed]: [1]
[bracket]: [a]: [b]
[ro.serialno]: [0A1B2C]
"""


def test_properties_of_several_lines_are_one_value() -> None:
    props = properties(GETPROP)
    assert props["persist.vendor.colours"] == "Red\nGreen=[dark]\nBlue"
    assert (props["empty"], props["ro.serialno"], props["bracket"]) == (
        "",
        "0A1B2C",
        "a]: [b",
    )
    assert properties(GETPROP.replace("\n", "\r\n")) == props
    assert len(props) == 9


def test_a_last_property_that_was_cut_off_is_absent() -> None:
    assert "ro.serialno" not in properties(GETPROP[: GETPROP.index("2C")])
    assert properties("") == {}
    assert properties("/system/bin/sh: getprop: not found\n") == {}


def test_lines_that_belong_to_no_property_hide_none_and_are_listed() -> None:
    warning = "WARNING: linker: /vendor/lib64/libfoo.so has text relocations"
    lines = GETPROP.splitlines(keepends=True)
    mixed = "".join(
        [
            f"{warning}\n",
            *lines[:2],
            f"{warning}\n",
            "[broken]: [half\n",
            *lines[2:],
            "Error: 7\n",
        ]
    )
    values, others = read_properties(mixed)
    assert values == properties(GETPROP)
    assert others == [warning, warning, "[broken]: [half", "Error: 7"]
    assert read_properties(mixed.replace("\n", "\r\n")) == (values, others)
    assert read_properties(GETPROP)[1] == []


def test_what_a_device_is_comes_from_the_best_property_that_says_it() -> None:
    props = properties(GETPROP)
    assert (api_level(props), abis(props)[0], is_booted(props)) == (
        34,
        "arm64-v8a",
        True,
    )
    assert build_factors(props)["soc"] == "Tensor G3"
    assert (
        build_factors({"ro.soc.model": " ", "ro.board.platform": "gs201"})["soc"]
        == "gs201"
    )
    assert "build" not in build_factors(props)
    assert (api_level({}), abis({}), is_booted({})) == (None, [], False)
    assert abis({"ro.product.cpu.abi": "x86_64"}) == ["x86_64"]


@pytest.mark.parametrize(
    "props",
    [
        {"ro.kernel.qemu": "1"},
        {"ro.hardware": "ranchu"},
        {"ro.hardware": "redroid"},
        {"ro.hardware": "waydroid"},
        {"ro.hardware": "cutf_cvm"},
        {"ro.hardware": "cutf"},
        {"ro.boot.qemu": "1"},
        {"ro.product.model": "sdk_gphone64_x86_64"},
        {"ro.build.fingerprint": "generic/sdk/generic:14"},
    ],
)
def test_emulators_are_known_by_any_of_their_marks(props: dict[str, str]) -> None:
    assert is_emulator(props)
    assert not is_emulator(properties(GETPROP))


def test_a_phone_that_calls_itself_an_emulator_among_its_characteristics_is_none() -> (
    None
):
    reported = {
        "ro.build.characteristics": "phone,emulator",
        "ro.kernel.qemu": "0",
        "ro.product.model": "SM-G960F",
    }
    assert not is_emulator(reported)


def test_properties_that_slow_code_down_are_named() -> None:
    assert slow_by_debugging({"ro.debuggable": "1", "debug.checkjni": "0"}) == [
        "ro.debuggable=1"
    ]
    assert (
        slow_by_debugging(
            {"ro.build.type": "user", "ro.debuggable": "0", "dalvik.vm.extra-opts": ""}
        )
        == []
    )


@pytest.mark.parametrize(
    "text", ["", "NaN", "inf", "1e999", "12abc", "0x10", "1,5", "--1", None]
)
def test_what_is_no_number_is_none(text: str | None) -> None:
    assert number(text) is None
    assert integer(text) is None


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("12", (12.0, "")),
        ("12,5 °C", (12.5, "c")),
        ("-3.5e1mV", (-35.0, "mv")),
        ("80 %", (80.0, "%")),
        ("12 of 13", None),
        ("NaN", None),
        ("", None),
        (None, None),
    ],
)
def test_a_quantity_is_a_number_with_its_unit(
    text: str | None, read: tuple[float, str] | None
) -> None:
    assert quantity(text) == read


def test_texts_that_are_not_understood_are_quoted_up_to_three_and_counted() -> None:
    assert unread_text({"a": [], "b": []}) == ""
    assert unread_text({"a": ["x"]}) == (
        "1 text is not understood and counts as unknown: a says 'x'."
    )
    many = unread_text({"a": ["x", "y"], "b": [str(number) for number in range(9)]})
    assert many.startswith("11 texts are not understood and count as unknown: a says")
    assert many.endswith("b says '0'; and 8 more.")


def test_lists_of_cpus_are_read_in_every_notation() -> None:
    assert cpu_list("0-3,8\n") == (0, 1, 2, 3, 8)
    assert cpu_list("4 5 6 7 ") == (4, 5, 6, 7)
    assert cpu_list("0") == (0,)
    assert cpu_list("") is None
    assert cpu_list("cat: online: Permission denied") is None


def test_a_refused_file_is_absent_among_others() -> None:
    result = files_of(
        "/proc/uptime:1.0 2.0\r\ngrep: /proc/pressure/cpu: Permission denied\n/a:x:y\n/a:z\n"
    )
    assert result == {"/proc/uptime": "1.0 2.0", "/a": "x:y\nz"}


def test_load_and_time_since_boot() -> None:
    assert resources.load("3.27 2.90 2.81 2/1854 21345\n") == (3.27, 2.9)
    assert resources.load("0.00 0.01") is None
    assert resources.uptime_s("53211.22 310000.10\n") == 53211.22
    assert resources.uptime_s("cat: /proc/uptime: Permission denied") is None


def test_pressure_with_and_without_a_full_line() -> None:
    some = "some avg10=1.53 avg60=0.87 avg300=0.20 total=7893421\n"
    full = "full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
    assert resources.stalled_us(some) == 7893421
    assert resources.stalled_us(some + full) == 7893421
    refused = "cat: /proc/pressure/cpu: Operation not supported"
    assert resources.stalled_us(refused) is None


@pytest.mark.parametrize("figure", ["1.2.3", ".", "", "NaN", "9" * 5000])
def test_pressure_with_a_figure_that_is_none_is_unknown(figure: str) -> None:
    some = "some avg10=1.53 avg60=0.87 avg300=0.20 total=7893421\n"
    assert resources.stalled_us(some.replace("1.53", figure)) is None
    assert resources.stalled_us(some.replace("7893421", figure)) is None
    full = some.replace("some", "full").replace("1.53", figure)
    assert resources.stalled_us(some + full) == 7893421


def test_a_boot_id_is_a_uuid_or_unknown() -> None:
    text = "7C1E6F0A-93D2-4d0b-8a57-0f6f2f0a5b11\n"
    assert resources.boot_id(text) == text.strip().lower()
    assert resources.boot_id("Permission denied") is None


def test_memory_counts_kibibytes_and_nothing_else() -> None:
    result = resources.memory_bytes(
        "MemTotal:  7654321 kB\nMemAvailable: 1024 kB\nHugePages_Total:   3\n"
    )
    assert result == {"MemTotal": 7654321 * 1024, "MemAvailable": 1024 * 1024}


DF = {
    "toybox": "Filesystem       1K-blocks     Used Available Use% Mounted on\n"
    "/dev/block/dm-41 110594436 61219888  49243476  56% /data/user/0\n",
    "wrapped": "Filesystem           1K-blocks      Used Available Use% Mounted on\n"
    "/dev/block/bootdevice/by-name/userdata\n                     110594436 61219888  49243476  56% /data\n",
    "human": "Filesystem      Size  Used Avail Use% Mounted on\n/dev/root 105G   58G   47G  56% /data\n",
    "toolbox": "Filesystem               Size     Used     Free   Blksize\n/data  12.0G 4.5G 7.5G 4096\n",
}


def test_free_space_in_the_four_shapes_of_df() -> None:
    assert storage.free_bytes(DF["toybox"]) == 49243476 * 1024
    assert storage.free_bytes(DF["wrapped"]) == 49243476 * 1024
    assert storage.free_bytes(DF["human"]) == 47 * 2**30
    assert storage.free_bytes(DF["toolbox"]) == int(7.5 * 2**30)
    assert storage.spaces(DF["toolbox"])[0].total_bytes == 12 * 2**30


def test_space_that_df_does_not_tell_is_unknown_and_not_zero() -> None:
    for text in (
        "",
        "df: /data: Permission denied\n",
        "Filesystem Size Used Free\n/data ? ? ?\n",
    ):
        assert storage.free_bytes(text) is None
    assert (
        storage.free_bytes(
            "Filesystem Size Used Avail Use% Mounted on\n/data 1 1 1 1% /\n"
        )
        is None
    )


TOYBOX = """\
Tasks: 512 total,   2 running, 510 sleeping,   0 stopped,   0 zombie
  Mem:  7654321K total,  7500000K used,   154321K free,     1234K buffers
800%cpu  43%user   0%nice  31%sys 720%idle   0%iow   3%irq   3%sirq   0%host
  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS
 1234 system       18  -2  18G 402M 255M S 37.9   5.3 412:01.30 system_server
21345 shell        20   0  10G 3.1M 2.3M R 10.3   0.0   0:00.11 top -b -n 1
  998 root         20   0  11G  12M 8.0M S  0.0   0.1   1:00.00 [kworker/0:1 H]
"""
TOOLBOX = """\
User 3%, System 9%, IOW 0%, IRQ 0%
  PID PR CPU% S  #THR     VSS     RSS PCY UID      Name
 2345  1   6% S   120 1900000K 120000K  fg system   system_server
  777  0   1% R     1   9000K   1500K     shell    top
"""


def test_the_busiest_processes_of_toybox_and_toolbox() -> None:
    assert [
        (item.pid, item.name, item.cpu_percent) for item in top.busiest(TOYBOX, 2)
    ] == [
        (1234, "system_server", 37.9),
        (21345, "top -b -n 1", 10.3),
    ]
    assert [(item.pid, item.cpu_percent) for item in top.busiest(TOOLBOX)] == [
        (2345, 6.0),
        (777, 1.0),
    ]
    assert top.busiest("\x1b[?25l\x1b[7m" + TOYBOX)[0].pid == 1234
    assert top.busiest(TOYBOX + TOYBOX.replace("37.9", "90.0"))[0].cpu_percent == 90.0


BUSYBOX = """\
Mem: 7500000K used, 154321K free, 0K shrd, 0K buff, 0K cached
CPU:   4% usr   3% sys   0% nic  92% idle   0% io   0% irq   0% sirq
Load average: 1.50 1.20 1.10 2/900 1234
  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND
 1234     1 system   S <   1900m  24%   3   6% system_server
   98     2 root     SW<       0   0%   1   4% [kworker/1:0H]
 2345     1 shell    S N   10000   0%   0   2% logd
  777   700 shell    R      9000   0%   2   1% top -b -n 1
"""


def test_a_niceness_that_busybox_prints_apart_shifts_no_column() -> None:
    expected = [
        (1234, "system_server"),
        (98, "[kworker/1:0H]"),
        (2345, "logd"),
        (777, "top -b -n 1"),
    ]
    shares = [6.0, 4.0, 2.0, 1.0]
    for text in (
        BUSYBOX,
        BUSYBOX.replace("%VSZ CPU", "%VSZ")
        .replace("%   3 ", "%")
        .replace("%   1 ", "%")
        .replace("%   0 ", "%")
        .replace("%   2 ", "%"),
    ):
        result = top.busiest(text)
        assert [(item.pid, item.name) for item in result] == expected
        assert [item.cpu_percent for item in result] == shares


def test_a_refused_top_names_nobody() -> None:
    assert top.busiest("") == []
    assert top.busiest('Invalid argument "-b".\nUsage: top [ -m max_procs ]\n') == []
