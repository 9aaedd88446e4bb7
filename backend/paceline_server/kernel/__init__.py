"""Holds the foundation of all packages: settings, errors, clock, ids, logging, wire shapes. It knows no feature."""
