"""Fakes and fixtures shipped beside what they stand in for, so that other projects' tests can use them."""
