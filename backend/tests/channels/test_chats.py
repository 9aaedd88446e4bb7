"""Messages to chats: what each takes, within its limits, and inert whatever names say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from paceline_server.channels.chat_messages import CHATS, chat_body
from paceline_server.channels.service import Link, Notice
from paceline_server.store import outbox
from paceline_server.testing.receiver import Receiver, answering

ChannelLab = Any
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


@pytest.mark.parametrize("kind", sorted(CHATS))
def test_the_longest_message_is_within_the_limits_of_its_chat(kind: str) -> None:
    body = chat_body(kind, notice("€😀" * 20_000), "default")
    message = json.loads(body)
    if kind == "slack":
        header, summary, text, context, actions = message["blocks"]
        assert len(header["text"]["text"]) <= 150
        assert len(summary["text"]["text"]) <= 3000
        assert len(text["text"]["text"]) <= 3000
        assert len(context["elements"]) <= 10
        assert [button["url"].rsplit("/", 1)[1] for button in actions["elements"]] == [
            "alt_1",
            "run_1",
            "tgt_1",
        ]
    elif kind == "discord":
        [embed] = message["embeds"]
        assert len(embed["title"]) <= 256
        assert len(embed["description"]) <= 4096
        total = embed["title"] + embed["description"] + embed["footer"]["text"]
        assert len(total) <= 6000
    elif kind == "mattermost":
        assert len(message["text"]) <= 16_383
    else:
        assert len(body.encode()) <= 28 * 1024


@pytest.mark.parametrize("kind", sorted(CHATS))
def test_names_mention_nobody_and_make_no_link(kind: str) -> None:
    message = json.loads(chat_body(kind, notice(NASTY), "default"))
    if kind == "slack":
        texts = [
            part.get("text") or part["elements"][0] for part in message["blocks"][:-1]
        ]
        assert {text["type"] for text in texts} == {"plain_text"}
        assert "<!channel>" not in message["text"]
        return
    if kind == "discord":
        assert message["allowed_mentions"] == {"parse": []}
        [embed] = message["embeds"]
        texts = [embed["title"], embed["description"]]
    elif kind == "teams":
        card = message["attachments"][0]["content"]
        texts = [block["text"] for block in card["body"]]
    else:
        texts = [message["text"]]
    for text in texts:
        assert "[a](http://evil.example)" not in text
        assert "@everyone" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize("kind", sorted(CHATS))
def test_links_without_an_address_of_the_server_are_left_out(kind: str) -> None:
    relative = notice(url="/alerts/alt_1", links=(Link("Run", "/runs/run_1"),))
    body = chat_body(kind, relative, "default")
    assert "/alerts/alt_1" not in body
    assert "/runs/run_1" not in body


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
