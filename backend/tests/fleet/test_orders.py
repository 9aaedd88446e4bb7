"""Orders: what an agent made of them, counted once, and why it refused."""

from __future__ import annotations

from paceline_server.fleet import service
from paceline_server.kernel.clock import FrozenClock
from paceline_server.testing.scripted_device import ScriptedDevice

from .conftest import Person


def rung(name: str, order_id: str | None = None) -> dict[str, object]:
    return {
        "id": name,
        "step": "reboot",
        "ok": True,
        "text": "",
        "ms_ago": 0,
        "order_id": order_id,
    }


def test_a_restart_ordered_by_a_person_is_one_of_the_days_two(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """The agent says the order, the rung it took for it, and another boot; the ladder's own come beside."""
    target_id = phone.healthy()
    assert (
        person.send("POST", f"/targets/{target_id}/reboot").json()["reboots_left"] == 1
    )
    (order,) = phone.beat()["orders"]
    phone.beat(recovery=[rung("r1", order["id"])])
    assert person.target(target_id)["reboots_left"] == 1, (
        "the rung was heard before the order"
    )
    phone.restart(order["id"])
    assert person.target(target_id)["reboots_left"] == 1
    phone.beat(recovery=[rung("r9")])
    assert person.target(target_id)["reboots_left"] == 0, (
        "one the ladder made by itself is another"
    )
    clock.advance(86_401)
    assert person.target(target_id)["reboots_left"] == 2


def test_an_order_that_is_refused_waits_no_more_and_the_page_has_why(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/reboot")
    (order,) = phone.beat()["orders"]
    no = {"id": order["id"], "why": "it was restarted twice today"}
    assert phone.beat(orders_refused=[no])["orders"] == []
    phone.beat(orders_refused=[no])
    shown = person.target(target_id)
    assert (shown["orders"], shown["reboots_left"]) == ([], 2), (
        "what was not done was no restart"
    )
    (refused,) = shown["refused_orders"]
    assert (refused["life"], refused["requested_by"], refused["why"]) == (
        "refused",
        "test",
        no["why"],
    )
    assert "reboot" in shown["actions"]
    newest = person.history(target_id, "order")[0]
    assert (newest["event"], newest["evidence"]["order_id"]) == (
        "order_refused",
        order["id"],
    )
    assert newest["words"] == f"refused an order: reboot: {no['why']}"
    assert person.events(target_id, "order").count("order_refused") == 1
    clock.advance(3601)
    assert person.target(target_id)["refused_orders"] == []


def test_an_order_that_was_carried_out_after_its_time_is_heard_of_late(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """While the ladder climbed, its time ran out: who asked for the check stays known."""
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/recheck")
    (order,) = phone.beat()["orders"]
    clock.advance(3601)
    assert service.sweep() == 1
    phone.beat(check=phone.check(), orders_done=[order["id"]])
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
    (order,) = phone.beat()["orders"]
    other.beat(
        orders_done=[order["id"]], orders_refused=[{"id": order["id"], "why": "no"}]
    )
    assert [one["id"] for one in phone.beat()["orders"]] == [order["id"]]
