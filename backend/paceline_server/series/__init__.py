"""History of one measurement across runs. Empty until change points arrive."""
