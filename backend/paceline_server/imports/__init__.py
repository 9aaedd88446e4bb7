"""Imports results of other tools: documents are stored as given, figures are computed from them."""
