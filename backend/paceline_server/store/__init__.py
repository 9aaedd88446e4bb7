"""Holds tables, transactions, the outbox, live events and pages, and decides nothing."""
