"""Starts the workload of `drive.py` as `python -m paceline.harnesses`."""

import sys

from paceline.harnesses.drive import main

sys.exit(main(sys.argv[1:]))
