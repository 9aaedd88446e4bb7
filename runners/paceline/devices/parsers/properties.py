"""Reads facts from a device's properties: model, build, ABIs, and signs of emulators and debugging.

A fact that no property states is absent. `adb/props.py` parses the output of `getprop`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

BUILD_FACTORS = {
    "model": ("ro.product.model", "ro.product.vendor.model"),
    "manufacturer": ("ro.product.manufacturer",),
    "soc": ("ro.soc.model", "ro.board.platform", "ro.hardware.chipname", "ro.hardware"),
    "build": ("ro.build.fingerprint", "ro.vendor.build.fingerprint"),
    "android": ("ro.build.version.release",),
    "api": ("ro.build.version.sdk",),
    "abis": ("ro.product.cpu.abilist", "ro.product.cpu.abi"),
}
"""Facts of a device's fingerprint (stats/README.md §4), and the properties that state them, best first."""

EMULATED = ("goldfish", "ranchu", "cutf", "vbox86", "redroid", "waydroid")
"""Prefixes of `ro.hardware` on systems that are not phones: the SDK's emulators, Cuttlefish, Genymotion, and
Android in a container."""


def build_factors(props: Mapping[str, str]) -> dict[str, str]:
    """Return the facts of BUILD_FACTORS that `props` state."""
    factors = {
        name: next(
            (props[key].strip() for key in keys if props.get(key, "").strip()), ""
        )
        for name, keys in BUILD_FACTORS.items()
    }
    return {name: value for name, value in factors.items() if value}


def api_level(props: Mapping[str, str]) -> int | None:
    """Return the API level, or None."""
    text = props.get("ro.build.version.sdk", "").strip()
    return int(text) if re.fullmatch(r"\d{1,4}", text, re.ASCII) else None


def abis(props: Mapping[str, str]) -> list[str]:
    """Return the ABIs that the device runs, the preferred one first; empty when no property states them."""
    for name in ("ro.product.cpu.abilist", "ro.product.cpu.abi"):
        names = [abi.strip() for abi in props.get(name, "").split(",") if abi.strip()]
        if names:
            return names
    return []


def is_booted(props: Mapping[str, str]) -> bool:
    """Return whether Android has finished booting. Until then other properties may still change."""
    return "1" in (
        props.get("sys.boot_completed", ""),
        props.get("dev.bootcomplete", ""),
    )


def is_emulator(props: Mapping[str, str]) -> bool:
    """Return whether this is an emulator, by properties of emulator images. `ro.build.characteristics` is not used:
    a Galaxy S9 has "phone,emulator" there."""
    fingerprint, model = (
        props.get("ro.build.fingerprint", ""),
        props.get("ro.product.model", ""),
    )
    return (
        props.get("ro.kernel.qemu") == "1"
        or props.get("ro.boot.qemu") == "1"
        or props.get("ro.hardware", "").startswith(EMULATED)
        or fingerprint.startswith(("generic", "unknown"))
        or any(
            word in model
            for word in (
                "google_sdk",
                "sdk_gphone",
                "Emulator",
                "Android SDK built for",
            )
        )
    )


def slow_by_debugging(props: Mapping[str, str]) -> list[str]:
    """Return the properties that make code slower than on an ordinary phone."""
    marks = {
        "ro.debuggable": ("1",),
        "ro.build.type": ("eng", "userdebug"),
        "debug.checkjni": ("1", "true"),
        "ro.kernel.android.checkjni": ("1",),
        "dalvik.vm.checkjni": ("1", "true"),
        "libc.debug.malloc.options": None,
        "dalvik.vm.extra-opts": None,
    }
    return [
        f"{name}={props[name]}"
        for name, values in marks.items()
        if props.get(name, "").strip()
        and (values is None or props[name].strip() in values)
    ]


def is_root_shell(props: Mapping[str, str]) -> bool:
    """Return whether adb's shell is root, so that clocks can be locked."""
    return props.get("service.adb.root") == "1" or props.get("ro.secure") == "0"
