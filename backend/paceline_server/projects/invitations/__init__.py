"""Invitations: links by which people become members of a project."""
