"""The foundation of all packages: settings, errors, clock, ids, logging, wire shapes. Knows no feature."""
