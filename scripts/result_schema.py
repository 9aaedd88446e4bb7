"""Writes the JSON schema of results, `native/protocol/result.schema.json`, from the contract's types.

python scripts/result_schema.py            writes the schema
python scripts/result_schema.py --check    writes nothing; exit 1 when the schema is stale
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from paceline_contract.results import result_schema

SCHEMA = Path(__file__).resolve().parents[1] / "native/protocol/result.schema.json"


def main(arguments: list[str]) -> int:
    fresh = json.dumps(result_schema(), indent=2) + "\n"
    if arguments == ["--check"]:
        if SCHEMA.exists() and SCHEMA.read_text(encoding="utf-8") == fresh:
            return 0
        sys.stderr.write(f"{SCHEMA.name} is stale; run: make openapi\n")
        return 1
    SCHEMA.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
