"""Tests of the harnesses that Paceline drives, with outputs that the real tools printed in `captured`."""
