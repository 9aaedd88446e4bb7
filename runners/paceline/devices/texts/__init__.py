"""What devices print, read: one module per kind of text, every parser pure.

Place in the journey: the bottom of `devices`; `conditions` asks and keeps the raw text, these read it.
Invariants: what a text does not say is absent or None, never zero and never a default; a text that says
"Permission denied", is empty or was cut off reads as "unknown" and raises nothing; parsers cost at most a
constant per character. Deliberately judges nothing: what is hot or low stands in `gates`.
"""
