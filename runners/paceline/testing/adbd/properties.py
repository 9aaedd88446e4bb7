"""The simulated device's default properties, as `getprop` prints them.

Every key by which a client may identify a device is there, and none claims to be an existing phone. Tests
change them.
"""

from __future__ import annotations

RELEASES = {
    26: "8.0.0",
    28: "9",
    29: "10",
    30: "11",
    31: "12",
    32: "12",
    33: "13",
    34: "14",
    35: "15",
    36: "16",
}
"""API level → the release of Android that has it."""

OTHER_ABIS = {"arm64-v8a": "arm64-v8a,armeabi-v7a,armeabi", "x86_64": "x86_64,x86"}
BUILD = "SIM1.240105.001"


def defaults(serial: str, abi: str, api: int) -> dict[str, str]:
    """Return the default properties of one device."""
    release = RELEASES.get(api, str(api - 20))
    fingerprint = f"paceline/sim8/sim8:{release}/{BUILD}/1:user/release-keys"
    return {
        "ro.serialno": serial,
        "ro.boot.serialno": serial,
        "ro.product.manufacturer": "Paceline",
        "ro.product.brand": "paceline",
        "ro.product.model": "Simulated 8",
        "ro.product.name": "sim8",
        "ro.product.device": "sim8",
        "ro.product.board": "sim8",
        "ro.product.cpu.abi": abi,
        "ro.product.cpu.abilist": OTHER_ABIS[abi],
        "ro.product.cpu.abilist64": abi,
        "ro.board.platform": "sim",
        "ro.hardware": "sim8",
        "ro.soc.manufacturer": "Paceline",
        "ro.soc.model": "SIM8",
        "ro.build.fingerprint": fingerprint,
        "ro.build.id": BUILD,
        "ro.build.type": "user",
        "ro.build.tags": "release-keys",
        "ro.build.version.release": release,
        "ro.build.version.sdk": str(api),
        "ro.build.version.incremental": "1",
        "ro.build.version.security_patch": "2024-01-05",
        "ro.debuggable": "0",
        "ro.secure": "1",
        "ro.adb.secure": "1",
        "ro.kernel.version": "5.10",
        "ro.boot.verifiedbootstate": "green",
        "ro.boot.flash.locked": "1",
        "ro.bootmode": "unknown",
        "ro.crypto.state": "encrypted",
        "ro.sf.lcd_density": "420",
        "dalvik.vm.heapsize": "512m",
        "persist.sys.timezone": "Etc/UTC",
        "persist.sys.usb.config": "adb",
        "init.svc.adbd": "running",
        "init.svc.bootanim": "stopped",
        "sys.usb.state": "adb",
    }


def boot_completed(*, booting: bool) -> dict[str, str]:
    """Return the properties that show a client that the system is up; absent until then."""
    return {} if booting else {"sys.boot_completed": "1", "dev.bootcomplete": "1"}


def listed(properties: dict[str, str]) -> str:
    """Return the output of `getprop` without arguments; a value may have several lines."""
    return "".join(f"[{key}]: [{value}]\n" for key, value in sorted(properties.items()))
