"""Device orders: how an agent ends them, restarts counted once, reasons of a refusal."""

from __future__ import annotations

from paceline_server.fleet import service
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.scripted_device import ScriptedDevice

from .conftest import Person


def recovery_step(name: str, order_id: str | None = None) -> dict[str, object]:
    return {
        "id": name,
        "step": "reboot",
        "ok": True,
        "text": "",
        "ms_ago": 0,
        "order_id": order_id,
    }


def test_a_restart_ordered_by_a_person_counts_once(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """The agent reports the order, the recovery step for it and a new boot id; all are one restart."""
    target_id = phone.healthy()
    assert (
        person.send("POST", f"/targets/{target_id}/reboot").json()["reboots_left"] == 1
    )
    (order,) = phone.heartbeat()["orders"]
    phone.heartbeat(recovery=[recovery_step("r1", order["id"])])
    assert person.target(target_id)["reboots_left"] == 1, (
        "the step is reported before the order"
    )
    phone.restart(order["id"])
    assert person.target(target_id)["reboots_left"] == 1
    phone.heartbeat(recovery=[recovery_step("r9")])
    assert person.target(target_id)["reboots_left"] == 0, (
        "a restart by the recovery ladder counts too"
    )
    clock.advance(86_401)
    assert person.target(target_id)["reboots_left"] == 2


def test_a_refused_order_ends_and_shows_its_reason(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/reboot")
    (order,) = phone.heartbeat()["orders"]
    refusal = {"id": order["id"], "why": "it was restarted twice today"}
    assert phone.heartbeat(orders_refused=[refusal])["orders"] == []
    phone.heartbeat(orders_refused=[refusal])
    shown = person.target(target_id)
    assert (shown["orders"], shown["reboots_left"]) == ([], 2), (
        "a refused restart does not count"
    )
    (refused,) = shown["refused_orders"]
    assert (refused["life"], refused["requested_by"], refused["why"]) == (
        "refused",
        "test",
        refusal["why"],
    )
    assert "reboot" in shown["actions"]
    newest = person.history(target_id, "order")[0]
    assert (newest["event"], newest["evidence"]["order_id"]) == (
        "order_refused",
        order["id"],
    )
    assert newest["words"] == f"refused an order: reboot: {refusal['why']}"
    assert person.events(target_id, "order").count("order_refused") == 1
    clock.advance(3601)
    assert person.target(target_id)["refused_orders"] == []


def test_an_order_may_be_reported_done_after_it_expired(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """It expired while the agent tried to recover the device."""
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/recheck")
    (order,) = phone.heartbeat()["orders"]
    clock.advance(3601)
    assert service.sweep() == 1
    phone.heartbeat(check=phone.check(), orders_done=[order["id"]])
    assert person.events(target_id, "order") == [
        "order_requested",
        "order_expired",
        "order_done",
    ]


def test_an_order_of_another_device_is_neither_done_nor_refused(
    phone: ScriptedDevice, person: Person
) -> None:
    other = ScriptedDevice(phone.client, phone.headers, serial="R5CT0002")
    other.healthy()
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/reboot")
    (order,) = phone.heartbeat()["orders"]
    other.heartbeat(
        orders_done=[order["id"]], orders_refused=[{"id": order["id"], "why": "no"}]
    )
    assert [waiting["id"] for waiting in phone.heartbeat()["orders"]] == [order["id"]]
