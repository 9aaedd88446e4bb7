"""Manages rules, which people own: which findings become alerts, from which effect on, and who is notified."""
