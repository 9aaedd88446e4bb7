"""What every room stands on: settings, errors, clock, ids, logging, wire shapes. Knows no feature."""
