"""Lays out a notice for chats: Slack (Block Kit), Mattermost, Microsoft Teams and Discord.

Names come from strangers' repositories. Where a chat knows plain text it gets that; elsewhere its markup is escaped, so
no name mentions a person, hides a link or breaks the layout. Lengths are those that each chat documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from paceline_server.channels.notices import Link, Notice
from paceline_server.kernel.escaping import escape

SLACK_HEADER, SLACK_TEXT, SLACK_BUTTON = 150, 3000, 75
DISCORD_TITLE, DISCORD_TEXT = 256, 4096
TEAMS_TEXT = 1200
"""The whole message may have 28 KB; there are four texts, and a character takes up to five bytes."""
MATTERMOST_TEXT = 8000
"""A post may have 16,383 characters."""
BUTTONS = 3
COLOURS = {"critical": 0xC92A2A, "warning": 0xE67700, "info": 0x1971C2}
"""As on the pages: red, amber, blue."""


def slack_message(notice: Notice, project: str) -> dict[str, Any]:
    """Block Kit: title, summary, facts, up to three buttons. `text` is what notifications of phones show."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(notice.title, SLACK_HEADER)},
        {"type": "section", "text": _plain(notice.summary, SLACK_TEXT)},
        {"type": "section", "text": _plain(notice.text, SLACK_TEXT)},
        {"type": "context", "elements": [_plain(_facts(notice, project), SLACK_TEXT)]},
    ]
    buttons = [
        {
            "type": "button",
            "action_id": f"open-{index}",
            "text": _plain(link.label, SLACK_BUTTON),
            "url": link.url,
        }
        for index, link in enumerate(_links(notice))
    ]
    if buttons:
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": _slack_escape(_shorten(notice.title, SLACK_TEXT)), "blocks": blocks}


def _plain(text: str, longest: int) -> dict[str, Any]:
    return {
        "type": "plain_text",
        "text": _shorten(text, longest) or "-",
        "emoji": False,
    }


def _slack_escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mattermost_message(notice: Notice, project: str) -> dict[str, Any]:
    """Markdown in one post."""
    links = " · ".join(f"[{escape(link.label)}]({link.url})" for link in _links(notice))
    lines = [
        f"#### {escape(notice.title)}",
        escape(notice.summary, MATTERMOST_TEXT // 2),
        "",
        escape(notice.text, MATTERMOST_TEXT),
        "",
        escape(_facts(notice, project)),
        links,
    ]
    return {"username": "Paceline", "text": "\n".join(lines).rstrip()}


def teams_message(notice: Notice, project: str) -> dict[str, Any]:
    """Return an Adaptive Card, as the webhooks of Teams' workflows take it."""
    texts: list[tuple[str, dict[str, Any]]] = [
        (notice.title, {"size": "Medium", "weight": "Bolder"}),
        (notice.summary, {}),
        (notice.text, {}),
        (_facts(notice, project), {"isSubtle": True}),
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {
                "type": "TextBlock",
                "wrap": True,
                "text": escape(text, TEAMS_TEXT),
                **look,
            }
            for text, look in texts
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": link.label, "url": link.url}
            for link in _links(notice)
        ],
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def discord_message(notice: Notice, project: str) -> dict[str, Any]:
    """Return one embed; nobody is mentioned."""
    links = " · ".join(f"[{escape(link.label)}]({link.url})" for link in _links(notice))
    half = DISCORD_TEXT // 4
    text = "\n\n".join(
        part
        for part in (escape(notice.summary, half), escape(notice.text, half), links)
        if part
    )
    return {
        "username": "Paceline",
        "allowed_mentions": {"parse": []},
        "embeds": [
            {
                "title": _shorten(
                    escape(notice.title, DISCORD_TITLE // 2), DISCORD_TITLE
                ),
                "description": _shorten(text, DISCORD_TEXT),
                "color": COLOURS[notice.severity],
                "footer": {"text": _shorten(_facts(notice, project), 2048)},
            }
        ],
    }


CHATS: Mapping[str, Callable[[Notice, str], dict[str, Any]]] = {
    "slack": slack_message,
    "mattermost": mattermost_message,
    "teams": teams_message,
    "discord": discord_message,
}


def chat_body(kind: str, notice: Notice, project: str) -> str:
    """Return the JSON that a chat of this kind takes."""
    message = CHATS[kind](notice, project)
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _facts(notice: Notice, project: str) -> str:
    facts = [project, notice.severity, notice.suite, notice.target, notice.branch]
    if notice.demonstration:
        facts.append("demonstration")
    return " · ".join(fact for fact in facts if fact)


def _links(notice: Notice) -> list[Link]:
    """Return those that lead somewhere from a chat: with an address of their own."""
    links = [Link("Open", notice.url), *notice.links]
    return [link for link in links if link.url.startswith(("http://", "https://"))][
        :BUTTONS
    ]


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
