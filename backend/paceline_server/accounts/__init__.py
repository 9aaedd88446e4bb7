"""Decides who may do what: accounts, sessions, tokens, permissions."""
