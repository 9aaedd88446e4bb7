"""Agents, their targets, enrolment and heartbeats."""
