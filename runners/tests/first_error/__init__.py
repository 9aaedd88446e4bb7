"""Tests of finding the first error in real output of tools, and of describing how processes end."""
