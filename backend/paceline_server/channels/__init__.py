"""Channels: how people of a project are told, by webhook and its kin. Knows no alert; others publish notices here."""
