"""Manages projects, their members and their targets."""
