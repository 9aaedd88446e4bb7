#!/usr/bin/env python3
"""Runs containers by runc, with the package clients' configuration of this host mounted at /dev/clients.

An image keeps what is below its file system's root, and /dev is none of it: the images that are built install packages
from where this host does, and hold nothing of that. `scripts/test-compose` copies this beside `clients/`.
"""

import json
import os
import sys
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent / "clients"

arguments = sys.argv[1:]
if "create" in arguments:
    bundle = Path(arguments[arguments.index("--bundle") + 1]) / "config.json"
    config = json.loads(bundle.read_text(encoding="utf-8"))
    mount = {"type": "bind", "source": str(CLIENTS), "options": ["rbind", "ro"]}
    config["mounts"].append({"destination": "/dev/clients", **mount})
    variables = (CLIENTS / "environment").read_text(encoding="utf-8")
    config["process"]["env"] += variables.splitlines()
    bundle.write_text(json.dumps(config), encoding="utf-8")
os.execvp("runc", ["runc", *arguments])  # noqa: S606 - the name that dockerd would have run
