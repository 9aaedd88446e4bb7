"""The outbox topics that more than one file of this room writes."""

from __future__ import annotations

CONFIRM = "alerts.confirm"
"""The cool-down of a suspected alert is over; the key is its id."""
NOTIFY = "alerts.notify"
"""People hear of an alert that opened; the key is its id."""
PATIENCE = "alerts.patience"
"""An A/B run has waited long enough for an agent; the key is `alert:run`."""
