"""Groups of commands of `paceline-server`, and what every command begins with. `cli.py` puts them together."""
