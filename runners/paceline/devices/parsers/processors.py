"""Parses `/proc/cpuinfo`: which cores a device has and what they can do.

Offline cores are not printed, so the number of cores is not known from it. A core is identified by implementer
and part (ARM's MIDR), because "model name" is missing or the same for all.
Sources: Linux arch/arm64/kernel/cpuinfo.c, arch/arm/kernel/setup.c; ARM DDI 0487 (MIDR_EL1).
"""

from __future__ import annotations

import msgspec

from paceline.devices.parsers.text_values import integer, lines_of

PARTS = {
    0x41: {
        0xD03: "Cortex-A53",
        0xD04: "Cortex-A35",
        0xD05: "Cortex-A55",
        0xD07: "Cortex-A57",
        0xD08: "Cortex-A72",
        0xD09: "Cortex-A73",
        0xD0A: "Cortex-A75",
        0xD0B: "Cortex-A76",
        0xD0D: "Cortex-A77",
        0xD41: "Cortex-A78",
        0xD44: "Cortex-X1",
        0xD46: "Cortex-A510",
        0xD47: "Cortex-A710",
        0xD48: "Cortex-X2",
        0xD4D: "Cortex-A715",
        0xD4E: "Cortex-X3",
        0xD80: "Cortex-A520",
        0xD81: "Cortex-A720",
        0xD82: "Cortex-X4",
        0xD85: "Cortex-X925",
        0xD87: "Cortex-A725",
    },
    0x51: {
        0x001: "Oryon",
        0x201: "Kryo",
        0x205: "Kryo",
        0x211: "Kryo",
        0x800: "Kryo 2xx Gold",
        0x801: "Kryo 2xx Silver",
        0x802: "Kryo 3xx Gold",
        0x803: "Kryo 3xx Silver",
        0x804: "Kryo 4xx Gold",
        0x805: "Kryo 4xx Silver",
    },
    0x53: {
        0x001: "Exynos M1",
        0x002: "Exynos M3",
        0x003: "Exynos M4",
        0x004: "Exynos M5",
    },
}
"""Names by implementer and part; other cores are named by their numbers."""


class Core(msgspec.Struct, frozen=True):
    """One online core; numbers that were not printed are None."""

    number: int
    implementer: int | None = None
    part: int | None = None
    model: str | None = None

    @property
    def name(self) -> str | None:
        """Return the core's name, otherwise numbers such as `0x51/0x804`; None when nothing was printed."""
        if self.implementer is None or self.part is None:
            return self.model
        known = PARTS.get(self.implementer, {}).get(self.part)
        return known or f"{self.implementer:#04x}/{self.part:#05x}"


def parse_cores(text: str) -> list[Core]:
    """Return the online cores in `/proc/cpuinfo` of ARM or x86; none when it was refused or empty."""
    sections, everyone = _sections(text)
    return [
        Core(
            number=number,
            implementer=_hex(
                own.get("cpu implementer", everyone.get("cpu implementer"))
            ),
            part=_hex(own.get("cpu part", everyone.get("cpu part"))),
            model=own.get("model name")
            or everyone.get("model name")
            or everyone.get("processor")
            or None,
        )
        for own in sections
        if (number := integer(own["processor"])) is not None
    ]


def cpu_parts(text: str) -> list[str]:
    """Return the kinds of cores such as `0x41:0xd46`, each once and sorted. Their number would change while cores go
    offline, and a fingerprint must not. A kind without numbers is named by its model."""
    kinds = {
        f"{core.implementer:#04x}:{core.part:#05x}"
        if core.implementer is not None and core.part is not None
        else core.model
        for core in parse_cores(text)
    }
    return sorted(kind for kind in kinds if kind)


def _sections(text: str) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Return the fields under each `processor : N`, and the fields outside of any."""
    sections: list[dict[str, str]] = []
    everyone: dict[str, str] = {}
    own: dict[str, str] | None = None
    for line in lines_of(text):
        name, colon, value = line.partition(":")
        key, value = name.strip().lower(), value.strip()
        if not colon:
            if not line.strip():
                own = None
        elif key == "processor" and integer(value) is not None:
            own = {"processor": value}
            sections.append(own)
        else:
            (everyone if own is None else own).setdefault(key, value)
    if len(sections) > 1 and all(len(section) == 1 for section in sections[:-1]):
        # Kernel 3.10 prints no blank line after its list of processors: the rest applies to all of them.
        everyone = {
            name: value for name, value in sections[-1].items() if name != "processor"
        } | everyone
        sections[-1] = {"processor": sections[-1]["processor"]}
    return sections, everyone


def _hex(text: str | None) -> int | None:
    try:
        return None if text is None else int(text, 16)
    except ValueError:
        return None
