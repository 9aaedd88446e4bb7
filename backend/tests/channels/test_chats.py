"""Messages to chats: Slack's and those of templates, within the limits of chats, and inert whatever names say; and the
links to plots in Slack's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from paceline_server.channels.chat_messages import (
    FIELDS,
    check_template,
    slack_message,
    templated_message,
)
from paceline_server.channels.plot import draw_ratios
from paceline_server.channels.plot_links import VALID, plot_url
from paceline_server.channels.publishing import store_notice
from paceline_server.channels.service import Link, Notice, Ratios
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import SettingsError, load_settings
from paceline_server.projects import service as projects
from paceline_server.projects.schemas import ProjectIn
from paceline_server.store import access, outbox
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import session_scope
from paceline_server.store.tables.channels import Channel, Notification
from paceline_server.testing.receiver import Receiver, answering
from sqlalchemy import delete

ChannelLab = Any
ROOT = Path(__file__).parents[3]
URL = "http://127.0.0.1:9/"
PUBLIC = "https://paceline.example"
RATIOS = Ratios("native ÷ fallback", (0.9, 1.0, 1.4), 1.2)
NASTY = (
    "<!channel> </script> | `x` [a](http://evil.example) @everyone *b* \u202e 😀\n# h"
)


def notice(text: str = "native slower", **changes: Any) -> Notice:
    return Notice(
        **{
            "kind": "alert.opened",
            "severity": "critical",
            "subject_id": "alt_1",
            "title": text,
            "summary": text,
            "text": text,
            "url": "https://paceline.example/alerts/alt_1",
            "suite": text,
            "target": text,
            "branch": text,
            "links": (
                Link("Run", "https://paceline.example/runs/run_1"),
                Link("Target", "https://paceline.example/targets/tgt_1"),
            ),
            **changes,
        }
    )


def test_the_longest_message_is_within_the_limits_of_slack() -> None:
    ratios = Ratios("€😀" * 20_000, (1.0,) * 500, 1.2)
    longest = notice("€😀" * 20_000, ratios=ratios)
    message = slack_message(longest, "default", f"{PUBLIC}/plot.png")
    header, summary, text, image, context, actions = message["blocks"]
    assert len(header["text"]["text"]) <= 150
    assert len(summary["text"]["text"]) <= 3000
    assert len(text["text"]["text"]) <= 3000
    assert len(image["title"]["text"]) <= 2000
    assert len(image["alt_text"]) <= 2000
    assert len(context["elements"]) <= 10
    assert [button["url"].rsplit("/", 1)[1] for button in actions["elements"]] == [
        "alt_1",
        "run_1",
        "tgt_1",
    ]


def test_names_are_plain_text_in_slack() -> None:
    message = slack_message(notice(NASTY), "default")
    texts = [part.get("text") or part["elements"][0] for part in message["blocks"][:-1]]
    assert {text["type"] for text in texts} == {"plain_text"}
    assert "<!channel>" not in message["text"]


def documented_templates() -> list[dict[str, Any]]:
    """The templates of docs/channels.md."""
    text = (ROOT / "docs" / "channels.md").read_text()
    return [json.loads(block) for block in re.findall(r"```json\n(.+?)```", text, re.S)]


def texts_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    members = value.values() if isinstance(value, dict) else value
    is_nested = isinstance(value, dict | list)
    return (
        [text for member in members for text in texts_of(member)] if is_nested else []
    )


@pytest.mark.parametrize("named", ["€😀" * 20_000, "@" * 20_000, "://" * 20_000])
@pytest.mark.parametrize("template", documented_templates())
def test_the_longest_message_of_a_documented_template_is_within_every_chats_limits(
    template: dict[str, Any], named: str
) -> None:
    """Those of an embed of Discord, a post of Mattermost and a card of Teams."""
    check_template(template)
    message = templated_message(template, notice(named), named)
    texts = texts_of(message)
    assert max(map(len, texts)) <= 4096
    assert sum(map(len, texts)) <= 6000
    assert len(json.dumps(message, ensure_ascii=False).encode()) <= 28 * 1024
    for embed in message.get("embeds", ()):
        assert len(embed["title"]) <= 256


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_no_name_in_any_field_breaks_or_marks_up_a_message(field: str) -> None:
    """Every value is a stranger's: none ends the JSON, is another field, mentions a person or makes a link."""
    nasty = f'{{title}} "}}], "x": "{NASTY}'
    event = notice(nasty, state=nasty, kind=nasty)
    template = {"text": f"before {{{field}}} after", "{title}": [1, None, True]}
    check_template(template)
    message = templated_message(template, event, nasty)
    assert json.loads(json.dumps(message)) == message
    assert list(message) == ["text", "{title}"]
    assert message["{title}"] == [1, None, True]
    text = message["text"]
    assert text.startswith("before ")
    assert text.endswith(" after")
    for harm in ("](http://evil", "@everyone", "<!", "</", "*b*", "\u202e", "\n# h"):
        assert harm not in text
    if field not in ("url", "links", "severity"):
        assert "\\{title\\}" in text, "a value is not filled in again"


def test_every_field_says_what_the_webhook_says() -> None:
    event = notice(
        title="native slower",
        summary="12.6 % slower",
        text="On lab-1.",
        suite="sorting",
        target="lab-1",
        branch="main",
        state="open",
    )
    template = {field: f"{{{field}}}" for field in sorted(FIELDS)}
    assert templated_message(template, event, "default") == {
        "branch": "main",
        "facts": "default · critical · sorting · lab-1 · main",
        "kind": "alert.opened",
        "links": (
            "[Open](https://paceline.example/alerts/alt_1) · "
            "[Run](https://paceline.example/runs/run_1) · "
            "[Target](https://paceline.example/targets/tgt_1)"
        ),
        "project": "default",
        "severity": "critical",
        "state": "open",
        "suite": "sorting",
        "summary": "12.6 % slower",
        "target": "lab-1",
        "text": "On lab-1.",
        "title": "native slower",
        "url": "https://paceline.example/alerts/alt_1",
    }


def test_links_without_an_address_of_the_server_are_left_out() -> None:
    relative = notice(url="/alerts/alt_1", links=(Link("Run", "/runs/run_1"),))
    for message in (
        slack_message(relative, "default"),
        templated_message({"text": "{url}{links}"}, relative, "default"),
    ):
        assert "/alerts/alt_1" not in json.dumps(message)
        assert "/runs/run_1" not in json.dumps(message)


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ({"text": "{titel}"}, "there is no field {titel}"),
        ({"text": "hello"}, "1 to 50 fields"),
        ({"text": "{title}" * 51}, "1 to 50 fields"),
        ({"text": "{title}" + "x" * 10_000}, "at most 10000 characters"),
    ],
    ids=["unknown", "none", "many", "long"],
)
def test_a_template_that_says_nothing_or_too_much_is_refused(
    lab: ChannelLab, template: dict[str, Any], complaint: str
) -> None:
    body = {"name": "x", "kind": "chat", "url": URL, "template": template}
    refused = lab.call("post", "/channels", body, status=422)
    assert complaint in json.dumps(refused)


@pytest.mark.shapes("embedded", "scaled")
def test_a_chat_gets_what_its_template_makes_and_a_changed_one_at_once(
    lab: ChannelLab, receiver: Receiver
) -> None:
    template = {"z": "Paceline", "text": "**{title}** {summary}"}
    channel = lab.make("team", receiver.url, kind="chat", template=template)
    assert list(channel["template"]) == ["z", "text"], "in the order it was written"
    lab.publish("one `more`")
    outbox.drain()
    path = f"/channels/{channel['id']}"
    lab.call("patch", path, {"template": {"content": "{title}"}})
    lab.call("post", f"{path}/test", status=202)
    outbox.drain()
    assert [json.loads(request.body) for request in receiver.received] == [
        {"z": "Paceline", "text": "**one \\`more\\`** 12.6 % slower"},
        {"content": "Test of channel team"},
    ]


def test_only_a_chat_has_a_template_and_no_chat_is_without(lab: ChannelLab) -> None:
    template = {"text": "{title}"}
    for kind, own in (("chat", {}), ("slack", {"template": template})):
        body = {"name": "x", "kind": kind, "url": URL, **own}
        lab.call("post", "/channels", body, status=422)
    hook = lab.make("hook", URL)
    lab.call("patch", f"/channels/{hook['id']}", {"template": template}, status=400)


@pytest.mark.shapes("embedded")
def test_a_chat_gets_its_message_and_its_address_is_shown_to_nobody(
    lab: ChannelLab, receiver: Receiver
) -> None:
    url = receiver.url.replace("/hook?team=1", "/services/T0/B0/hidden")
    channel = lab.make("team", url, kind="slack")
    receiver.behaviours.append(answering(200, b"ok"))
    lab.publish()
    outbox.drain()
    [request] = receiver.received
    assert json.loads(request.body)["blocks"][0]["text"]["text"] == "native slower"
    assert "webhook-signature" not in request.headers
    assert channel["secret"] is None
    seen = json.dumps([lab.call("get", "/channels"), lab.call("get", "/audit")])
    assert "hidden" not in seen
    lab.call("post", f"/channels/{channel['id']}/rotate", {}, status=409)
    patch = {"recipients": ["a@example.org"]}
    lab.call("patch", f"/channels/{channel['id']}", patch, status=400)
    both = {"name": "x", "kind": "email", "url": url}
    lab.call("post", "/channels", both, status=422)


def show_pictures(shown: bool) -> None:
    own = process_settings.current()
    changes = {"public_url": PUBLIC, "slack_pictures": shown}
    process_settings.set_current(own.model_copy(update=changes))


def store_plot(project_id: str) -> tuple[str, str]:
    """The path of a new notification's plot, and its key."""
    with session_scope() as session, access.within_project(session, project_id):
        link = urlsplit(plot_url(store_notice(session, notice(ratios=RATIOS))) or "")
    return link.path, link.query.removeprefix("key=")


@pytest.mark.shapes("embedded", "scaled")
def test_a_plot_is_opened_by_its_key_for_30_days_and_by_nothing_else(
    lab: ChannelLab,
) -> None:
    def get(path: str, key: str | None) -> Any:
        return lab.client.get(path, params={} if key is None else {"key": key})

    show_pictures(True)
    with session_scope() as session:
        other = ProjectIn(name="other", title="Other")
        other_id = projects.create_project(session, other, "test").id
    path, key = store_plot(DEFAULT_PROJECT_ID)
    foreign_path, foreign_key = store_plot(other_id)
    deleted_path, deleted_key = store_plot(other_id)
    assert len({key, foreign_key, deleted_key}) == 3
    for link in ((path, key), (foreign_path, foreign_key), (deleted_path, deleted_key)):
        plot = get(*link)
        assert plot.status_code == 200, plot.text
        assert plot.headers["content-type"] == "image/png"
        assert plot.headers["cache-control"].startswith("private,")
        assert plot.headers["x-content-type-options"] == "nosniff"
        assert plot.content == draw_ratios(RATIOS)
    with session_scope() as session:
        deleted_id = Path(deleted_path).stem
        session.execute(delete(Notification).where(Notification.id == deleted_id))
        with access.within_project(session, DEFAULT_PROJECT_ID):
            at, columns = lab.clock.now(), notice(ratios=RATIOS).columns()
            session.add(Notification(id="ntf_old", created_at=at, **columns))
    wrong: dict[str, tuple[str, str | None]] = {
        "one bit": (path, f"{key[:-2]}{chr(ord(key[-2]) ^ 1)}{key[-1]}"),
        "another project's key": (path, foreign_key),
        "another project's alert": (foreign_path, key),
        "deleted": (deleted_path, deleted_key),
        "no key": (path, None),
        "empty key": (path, ""),
        "of before links": ("/api/v1/plots/ntf_old.png", ""),
        "not ASCII": (path, "ä"),
    }
    answers = {why: get(*link) for why, link in wrong.items()}
    lab.clock.advance(VALID.total_seconds() - 1)
    assert get(path, key).status_code == 200
    show_pictures(False)
    answers["switched off"] = get(path, key)
    show_pictures(True)
    lab.clock.advance(1)
    answers["expired"] = get(path, key)
    for why, refused in answers.items():
        notification_id = Path(refused.url.path).stem
        assert refused.status_code == 404, why
        assert refused.headers["cache-control"] == "no-store", why
        detail = f"There is no plot {notification_id!r}."
        assert refused.json()["detail"] == detail, why


def test_slack_shows_the_plot_and_gets_a_message_that_it_refuses_without_it(
    lab: ChannelLab, receiver: Receiver
) -> None:
    show_pictures(True)
    channel = lab.make("team", receiver.url, kind="slack")
    receiver.behaviours += [answering(503, b"busy"), answering(400, b"invalid_blocks")]
    lab.publish(ratios=RATIOS)
    failures = []
    for _ in range(3):
        outbox.drain()
        with session_scope() as session:
            failures.append(session.get_one(Channel, channel["id"]).failures)
        lab.clock.advance(120)
    assert failures == [1, 1, 0], "whoever refuses a picture does not fail"
    busy, refused, plain = (
        json.loads(request.body)["blocks"] for request in receiver.received
    )
    [image] = [block for block in busy if block["type"] == "image"]
    assert image["alt_text"] == RATIOS.words
    assert image["image_url"].startswith(f"{PUBLIC}/api/v1/plots/ntf_")
    assert refused == busy, "a picture is no reason to be busy"
    assert plain == [block for block in busy if block != image]
    [delivery] = lab.deliveries(channel["id"])
    assert delivery["state"] == "delivered"


def test_no_message_links_to_a_plot_unless_the_operator_says_so(
    lab: ChannelLab, receiver: Receiver
) -> None:
    show_pictures(False)
    lab.make("slack", receiver.url, kind="slack")
    lab.publish(ratios=RATIOS)
    outbox.drain()
    [request] = receiver.received
    assert b"plots" not in request.body
    with pytest.raises(SettingsError, match="PACELINE_PUBLIC_URL with https"):
        load_settings(
            {
                "PACELINE_SLACK_PICTURES": "true",
                "PACELINE_PUBLIC_URL": "http://paceline.example",
            }
        )
