"""A healthy phone in memory, and what tests of devices need around it."""

from __future__ import annotations

from pathlib import Path

from paceline.adb.port import AdbError, Connection, Route
from paceline.adb.smart_socket import ListedDevice
from paceline.devices import check, conditions, scripts
from paceline.devices.attached_device import AttachedDevice
from paceline.testing.fake_device import FakeDevice

TOOLS = tuple(scripts.argv("tools", *scripts.tools()))
"""The command that asks for programs a device lacks."""
SERVER = "127.0.0.1:5037"
BATTERY = """\
Current Battery Service state:
  AC powered: true
  status: 2
  present: true
  level: {level}
  scale: 100
  voltage: 4100
  temperature: {tenths}
"""
THERMAL = """\
IsStatusOverride: false
Thermal Status: {status}
HAL Ready: true
Current temperatures from HAL:
\tTemperature{{mValue=31.5, mType=3, mName=skin, mStatus={status}}}
"""
DF = "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/block/dm-9 100000000 1 {free} 1% /data\n"
CPUINFO = "".join(
    f"processor\t: {number}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n"
    for number, part in enumerate(["0xd05", "0xd05", "0xd41", "0xd41"])
)


def phone(serial: str = "PHONE0001", kind: type[FakeDevice] = FakeDevice) -> FakeDevice:
    """A healthy device: booted, cool, charged, with space, and with four cores of two kinds."""
    device = kind(serial)
    device.props |= {
        "ro.product.model": "Phone 7",
        "ro.product.cpu.abilist": "arm64-v8a,armeabi-v7a",
        "ro.build.version.sdk": "34",
        "ro.build.fingerprint": "maker/phone/phone:14/A1/1:user/release-keys",
        "ro.soc.model": "SOC1",
        "persist.adb.tcp.port": "5555",
    }
    device.files["/proc/cpuinfo"] = CPUINFO.encode()
    device.files["/proc/meminfo"] = b"MemTotal:        7812345 kB\n"
    device.files["/sys/devices/system/cpu/present"] = b"0-3\n"
    device.answers |= {
        ("uname", "-r"): "5.10.1-android\n",
        conditions.KERNEL: "",
        conditions.CLOCKS: "",
        conditions.ZONES: "",
        conditions.TOP: "",
        check.CALIBRATION: "5000000\n4000000\n6000000\n",
        TOOLS: "",
    }
    battery(device, 80, 29.0)
    thermal(device, 0)
    free(device, 40 << 20)
    return device


def battery(device: FakeDevice, level: int, celsius: float) -> None:
    device.answers[conditions.BATTERY] = BATTERY.format(
        level=level, tenths=int(celsius * 10)
    )


def thermal(device: FakeDevice, status: int) -> None:
    device.answers[conditions.THERMAL] = THERMAL.format(status=status)


def free(device: FakeDevice, kib: int) -> None:
    device.answers["df", "-k", "/data/local/tmp"] = DF.format(free=kib)


class FakeBackends:
    """Routes to devices in memory. `at` maps a route to its device; `names` is the list of the adb server."""

    def __init__(self, **at: FakeDevice) -> None:
        self.at: dict[str, FakeDevice] = dict(at)
        self.names: dict[str, str] = {}
        self.listed_twice: str | None = None
        self.usb: list[Route] = []
        self.usb_notes: dict[str, str] = {}
        self.reconnects: list[Route] = []
        self.opened: list[Route] = []

    def open(self, route: Route) -> Connection:
        self.opened.append(route)
        device = self.at.get(route.address) or self.at.get(route.name)
        if device is None:
            device = FakeDevice("nobody")
            device.faults.absent = True
        return device.connection()

    def list_devices(self) -> list[ListedDevice]:
        names = [*self.names, *filter(None, [self.listed_twice])]
        return [ListedDevice(name, self.names[name], {}) for name in names]

    def list_usb_routes(self) -> list[Route]:
        return [*self.usb]

    def usb_problem(self) -> AdbError | None:
        return None

    def usb_note(self, serial: str) -> str:
        return self.usb_notes.get(serial, "")

    def route_to(self, name: str) -> Route:
        return Route("server", SERVER, name)

    def reconnect(self, route: Route) -> None:
        self.reconnects.append(route)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def attached(device: FakeDevice, root: Path) -> AttachedDevice:
    """`device` as the agent holds it, by one TCP route."""
    backends = FakeBackends(home=device)
    return AttachedDevice(
        device.serial,
        root / device.serial,
        backends.open,
        [Route("tcp", "home")],
        locks=root,
    )
