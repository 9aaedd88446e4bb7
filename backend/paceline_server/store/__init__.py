"""Tables, transactions, outbox, live events, pages. Decides nothing."""
