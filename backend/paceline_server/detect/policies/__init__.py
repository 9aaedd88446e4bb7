"""Advises on usage policies: from which value on an arm pays off on a target."""
