"""Who may do what: accounts, sessions, tokens, permissions."""
