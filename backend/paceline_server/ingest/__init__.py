"""Receives, stores and reads back what agents upload: samples, conditions, checks and logs."""
