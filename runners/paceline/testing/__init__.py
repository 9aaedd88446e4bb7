"""Test doubles and fixtures, shipped so that tests outside this package can use them too."""
