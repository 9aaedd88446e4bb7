"""Manages the agents of the installation: their grants, credentials and claims."""
