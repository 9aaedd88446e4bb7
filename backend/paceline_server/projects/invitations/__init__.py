"""Manages invitations: links with which people become members of a project."""
