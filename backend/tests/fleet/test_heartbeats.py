"""A heartbeat is one body of many targets: each is taken or refused by itself."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.fleet.schemas import MAX_TARGETS
from paceline_server.testing.scripted_agent import PREFIX, ScriptedAgent
from paceline_server.testing.scripted_device import ScriptedDevice

from .conftest import Person

pytestmark = pytest.mark.shapes("embedded")


def beat(lab: ScriptedAgent, *targets: object) -> dict[str, Any]:
    body = {"version": "1", "targets": list(targets)}
    answer = lab.client.post(
        f"{PREFIX}/agents/self/heartbeat", json=body, headers=lab.headers
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ({"serial": "x" * 201}, "serial: "),
        ({"gates": {"thermal_status": 9}}, "gates.thermal_status: "),
        ({"name": "a\x00b"}, "NUL"),
        ({"colour": "red"}, "colour: "),
    ],
)
def test_one_devices_odd_value_does_not_take_the_others_off(
    lab: ScriptedAgent,
    phone: ScriptedDevice,
    person: Person,
    odd: dict[str, Any],
    why: str,
) -> None:
    strange = ScriptedDevice(lab.client, lab.headers, serial="STRANGE").announcement(
        **odd
    )
    heard = beat(lab, strange, phone.announcement(), "no target at all")
    assert [target["serial"] for target in heard["targets"]] == [phone.serial]
    refused, nothing = heard["refused_targets"]
    assert (refused["kind"], refused["serial"]) == ("device", strange["serial"][:200])
    assert why in refused["why"]
    assert nothing["serial"] == ""
    assert [item["serial"] for item in person.get("/targets?kind=device")["items"]] == [
        phone.serial
    ]


def test_an_agent_with_too_many_devices_drives_as_many_as_it_may(
    lab: ScriptedAgent,
) -> None:
    rack = [
        ScriptedDevice(lab.client, lab.headers, serial=f"D{number:03}").announcement()
        for number in range(MAX_TARGETS + 2)
    ]
    heard = beat(lab, *rack)
    assert len(heard["targets"]) == MAX_TARGETS
    assert [target["serial"] for target in heard["refused_targets"]] == ["D064", "D065"]
    assert "at most 64 targets" in heard["refused_targets"][0]["why"]


def test_a_step_that_was_not_looked_at_is_neither_a_pass_nor_a_failure(
    phone: ScriptedDevice, person: Person
) -> None:
    phone.heartbeat()
    check = phone.check(ok=False, text="no answer")
    check["steps"].append(
        {"name": "self_test", "ok": None, "text": "the round trip failed"}
    )
    phone.heartbeat(check=check)
    shown = person.target(phone.target_id)
    assert [step["ok"] for step in shown["check"]["steps"]] == [False, None]
    assert "self_test" not in shown["health"]["reason"]


def test_sha_instructions_that_a_check_finds_are_shown_and_make_no_other_target_of_it(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    phone.healthy()
    before = person.target(phone.target_id)
    step = {
        "name": "self_test",
        "ok": True,
        "text": "Digests are right.",
        "unit": "hardware_sha",
    }
    for found in (1.0, 0.0):
        check = phone.check()
        check["steps"].append({**step, "value": found})
        assert phone.heartbeat(check=check)["checks_heard"] == [check["id"]]
        after = person.target(phone.target_id)
        assert [
            one["value"]
            for one in after["check"]["steps"]
            if one["unit"] == "hardware_sha"
        ] == [found]
        assert (after["id"], after["fingerprint"]) == (
            before["id"],
            before["fingerprint"],
        )
        assert after["factors"] == before["factors"]
