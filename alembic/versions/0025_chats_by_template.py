"""Chats have a template of their message; channels keep no quiet hours.

Mattermost, Teams and Discord become chats whose templates give the texts that their layouts gave. Taken back, a chat
whose template is one of these is of that kind again, and any other is of Mattermost's, whose layout is plain text.

Revision ID: 0025
Revises: 0024
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

TEMPLATES: dict[str, dict[str, Any]] = {
    "mattermost": {
        "username": "Paceline",
        "text": "#### {title}\n{summary}\n\n{text}\n\n{facts}\n{links}",
    },
    "teams": {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": [
                        {
                            "type": "TextBlock",
                            "wrap": True,
                            "size": "Medium",
                            "weight": "Bolder",
                            "text": "{title}",
                        },
                        *(
                            {"type": "TextBlock", "wrap": True, "text": text}
                            for text in ("{summary}", "{text}", "{facts}", "{links}")
                        ),
                    ],
                },
            }
        ],
    },
    "discord": {
        "username": "Paceline",
        "allowed_mentions": {"parse": []},
        "embeds": [
            {
                "title": "{title}",
                "description": "{summary}\n\n{text}\n\n{links}",
                "footer": {"text": "{facts}"},
            }
        ],
    },
}

channel = sa.table(
    "channel",
    sa.column("id", sa.String()),
    sa.column("kind", sa.String()),
    sa.column("template", sa.JSON()),
)


def upgrade() -> None:
    op.add_column("channel", sa.Column("template", sa.JSON(), nullable=True))
    for kind, template in TEMPLATES.items():
        op.execute(
            sa.update(channel)
            .where(channel.c.kind == kind)
            .values(kind="chat", template=template)
        )
    op.drop_column("channel", "quiet_ends")
    op.drop_column("channel", "quiet_begins")


def downgrade() -> None:
    op.add_column("channel", sa.Column("quiet_begins", sa.Time(), nullable=True))
    op.add_column("channel", sa.Column("quiet_ends", sa.Time(), nullable=True))
    connection = op.get_bind()
    chats = connection.execute(
        sa.select(channel.c.id, channel.c.template).where(channel.c.kind == "chat")
    )
    for channel_id, template in chats.all():
        kinds = [kind for kind, own in TEMPLATES.items() if own == template]
        connection.execute(
            sa.update(channel)
            .where(channel.c.id == channel_id)
            .values(kind=[*kinds, "mattermost"][0])
        )
    op.drop_column("channel", "template")
