"""Paceline's server: store, decisions and API. See ARCHITECTURE.md for the journey of one number."""
