"""Outbox topics that several files of this room write."""

from __future__ import annotations

CONFIRM = "alerts.confirm"
"""The cool-down of a suspected alert is over; the key is its id."""
NOTIFY = "alerts.notify"
"""An alert opened and people are to be notified; the key is its id."""
PATIENCE = "alerts.patience"
"""An A/B run has waited long enough for an agent; the key is `alert:run`."""
