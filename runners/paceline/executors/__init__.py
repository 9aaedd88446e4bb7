"""How a launch is executed on one kind of target; `base.py` is the port."""
