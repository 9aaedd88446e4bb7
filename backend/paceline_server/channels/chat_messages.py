"""Formats a notice for chats: as Slack's blocks, or for any other chat as the message of a template.

Names come from strangers' repositories. A template is parsed before fields are filled into its texts, and fields are
escaped for Markdown, so a name cannot end a text, be read as another field, mention a person or hide a link. Slack
gets plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from paceline_server.channels.notices import Link, Notice
from paceline_server.kernel.escaping import escape

SLACK_HEADER, SLACK_TEXT, SLACK_IMAGE, SLACK_BUTTON = 150, 3000, 2000, 75
BUTTONS = 3
TEMPLATE_CHARACTERS = 10_000
MAX_FIELDS = 50
"""At most this many fields in one template, so that a message cannot grow without limit."""
MAX_LENGTHS = {"title": 250, "summary": 800, "text": 1800}
"""Characters of an escaped field. All fields together fit into the smallest message of the common chats, an embed of
Discord (256 for the title, 4,096 for the description, 6,000 in all)."""
MAX_FACT_LENGTH = 100
FIELDS = frozenset(
    (
        *MAX_LENGTHS,
        *("project", "severity", "kind", "state", "suite", "target", "branch"),
        *("url", "links", "facts"),
    )
)
"""Fields that a template may name in braces. They are those of a webhook's body, except that `links` is a line of
Markdown links and `facts` a line of project, severity, suite, target and branch."""
_FIELD = re.compile(r"\{([a-z_]+)\}")


def slack_message(
    notice: Notice, project: str, plot_url: str | None = None
) -> dict[str, Any]:
    """Return a message in Slack's Block Kit: title, summary, text, the plot at `plot_url`, facts and up to three
    buttons. Phones show `text` in notifications."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(notice.title, SLACK_HEADER)},
        {"type": "section", "text": _plain(notice.summary, SLACK_TEXT)},
        {"type": "section", "text": _plain(notice.text, SLACK_TEXT)},
    ]
    if plot_url is not None and notice.ratios is not None:
        blocks.append(
            {
                "type": "image",
                "title": _plain(notice.ratios.legend, SLACK_IMAGE),
                "image_url": plot_url,
                "alt_text": _shorten(notice.ratios.words, SLACK_IMAGE),
            }
        )
    facts = _plain(_facts(notice, project), SLACK_TEXT)
    blocks.append({"type": "context", "elements": [facts]})
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


def check_template(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template unchanged. Raises ValueError if it has an unknown field, no field, or is too large."""
    if len(json.dumps(template, ensure_ascii=False)) > TEMPLATE_CHARACTERS:
        raise ValueError(f"at most {TEMPLATE_CHARACTERS} characters are expected")
    used = [name for text in _texts(template) for name in _FIELD.findall(text)]
    unknown = sorted({*used} - FIELDS)
    if unknown:
        raise ValueError(
            f"there is no field {{{unknown[0]}}}; there are "
            + ", ".join(f"{{{name}}}" for name in sorted(FIELDS))
        )
    if not 1 <= len(used) <= MAX_FIELDS:
        raise ValueError(
            f"a template has 1 to {MAX_FIELDS} fields such as {{title}}, and this one {len(used)}"
        )
    return template


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of plain JSON, without the names of members, into which nothing is filled."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)


def templated_message(
    template: Mapping[str, Any], notice: Notice, project: str
) -> dict[str, Any]:
    """Return the template with the notice's fields filled into its texts."""
    fields = _field_texts(notice, project)
    return {name: _fill(member, fields) for name, member in template.items()}


def _fill(value: Any, fields: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _FIELD.sub(lambda named: fields.get(named[1], named[0]), value)
    if isinstance(value, Mapping):
        return {name: _fill(member, fields) for name, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, fields) for member in value]
    return value


def _field_texts(notice: Notice, project: str) -> dict[str, str]:
    links = _links(notice)
    texts = {
        "title": notice.title,
        "summary": notice.summary,
        "text": notice.text,
        "project": project,
        "severity": notice.severity,
        "kind": notice.kind,
        "state": notice.state or "",
        "suite": notice.suite or "",
        "target": notice.target or "",
        "branch": notice.branch or "",
    }
    escaped = {
        name: _escape_within(text, MAX_LENGTHS.get(name, MAX_FACT_LENGTH))
        for name, text in texts.items()
    }
    return escaped | {
        "url": next((link.url for link in links if link.url == notice.url), ""),
        "links": " · ".join(f"[{escape(link.label)}]({link.url})" for link in links),
        "facts": " · ".join(
            _escape_within(fact, MAX_FACT_LENGTH)
            for fact in _list_facts(notice, project)
        ),
    }


def _escape_within(text: str, longest: int) -> str:
    """Return the escaped text, shortened so that it has at most `longest` characters including its escapes, none of
    which is cut in two."""
    kept, shown = longest, escape(text, longest)
    while len(shown) > longest:
        kept = kept * 3 // 4
        shown = escape(text, kept)
    return shown


def _facts(notice: Notice, project: str) -> str:
    return " · ".join(_list_facts(notice, project))


def _list_facts(notice: Notice, project: str) -> list[str]:
    facts = [project, notice.severity, notice.suite, notice.target, notice.branch]
    if notice.demonstration:
        facts.append("demonstration")
    return [fact for fact in facts if fact]


def _links(notice: Notice) -> list[Link]:
    """Return the links with an absolute URL, the only ones that work in a chat."""
    links = [Link("Open", notice.url), *notice.links]
    return [link for link in links if link.url.startswith(("http://", "https://"))][
        :BUTTONS
    ]


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
