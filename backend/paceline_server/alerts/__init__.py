"""Raises alerts from findings, confirms them before anybody is notified, and lets people triage them."""
