"""A device controlled by a test, as its agent reports it in heartbeats. It runs nothing."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from paceline_server.testing.scripted_agent import MANIFEST, PREFIX

COOL = {
    "battery_c": 25.0,
    "battery_percent": 80.0,
    "charging": True,
    "thermal_status": 0,
    "free_bytes": 64 << 30,
}


def device_manifest() -> dict[str, Any]:
    """Return the suite `demo`, which devices can run too."""
    manifest = copy.deepcopy(MANIFEST)
    for workload in manifest["workloads"]:
        workload["android"] = {
            "build": [],
            "artifacts": ["w"],
            "run": ["{artifacts}/w"],
        }
    return manifest


@dataclass
class ScriptedDevice:
    """A device of an enrolled agent, over a TestClient."""

    client: Any
    headers: Mapping[str, str]
    serial: str = "R5CT0001"
    boot_id: str = "boot-1"
    simulated: bool = False
    target_id: str = ""
    _checks: count[int] = field(default_factory=lambda: count(1))

    def announcement(self, **changes: Any) -> dict[str, Any]:
        """Its part of a heartbeat: connected and cool, except for `changes`."""
        return {
            "kind": "device",
            "serial": self.serial,
            "name": f"phone {self.serial}",
            "factors": {"model": "Pixel 8", "api": 34},
            "fingerprint": "d" * 64,
            "preflight": [],
            "simulated": self.simulated,
            "boot_id": self.boot_id,
            "gates": {**COOL, "ms_ago": 0},
            "configuration": [],
            "recovery": [],
            "orders_done": [],
            "orders_refused": [],
            "refuses": None,
            "connection": {
                "state": "online",
                "reason": None,
                "advice": None,
                "route": "usb 1-2",
            },
            **changes,
        }

    def heartbeat(self, **changes: Any) -> dict[str, Any]:
        """Send a heartbeat; returns the reply about the device."""
        body = {"version": "1", "targets": [self.announcement(**changes)]}
        answer = self.client.post(
            f"{PREFIX}/agents/self/heartbeat", json=body, headers=dict(self.headers)
        )
        if answer.status_code != 200:
            raise AssertionError(f"heartbeat: {answer.status_code} {answer.text}")
        (reply,) = answer.json()["targets"]
        self.target_id = reply["target_id"]
        return dict(reply)

    def check(
        self, *, ok: bool = True, infrastructure: bool = True, text: str = ""
    ) -> dict[str, Any]:
        """Return a finished health check for a heartbeat."""
        step = {
            "name": "round_trip",
            "ok": ok,
            "text": text or "5 ms",
            "value": 5.0,
            "unit": "ms",
        }
        raw = {
            "command": "echo x",
            "status": 0,
            "at_ms": 1,
            "took_ms": 5,
            "text": "x\n",
        }
        return {
            "id": f"{self.serial}-check-{next(self._checks)}",
            "started_at_ms_ago": 30_000,
            "took_ms": 29_500,
            "ok": ok,
            "infrastructure": infrastructure and not ok,
            "steps": [step],
            "raw": [raw],
        }

    def restart(self, order_id: str) -> dict[str, Any]:
        """Carry out an ordered restart; a single heartbeat reports step, order and new boot id."""
        self.boot_id = f"boot-{order_id}"
        step = {
            "id": f"rec_{order_id}",
            "step": "reboot",
            "ok": True,
            "text": "",
            "ms_ago": 0,
        }
        return self.heartbeat(
            recovery=[{**step, "order_id": order_id}], orders_done=[order_id]
        )

    def healthy(self) -> str:
        """Connect and pass a check; returns the target's id."""
        if not self.heartbeat()["check_due"]:
            raise AssertionError("no check is due")
        if self.heartbeat(check=self.check())["health"] != "good":
            raise AssertionError("a passed check did not make it good")
        return self.target_id
