"""Writes the JSON schemas of results and recordings in `native/protocol/` from the contract's types.

python scripts/document_schemas.py            writes the schemas
python scripts/document_schemas.py --check    writes nothing; exit 1 when a schema is stale
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from paceline_contract.document_schemas import recording_schema, result_schema

PROTOCOL = Path(__file__).resolve().parents[1] / "native/protocol"
SCHEMAS = {
    PROTOCOL / "result.schema.json": result_schema,
    PROTOCOL / "recording.schema.json": recording_schema,
}


def main(arguments: list[str]) -> int:
    stale = False
    for path, make_schema in SCHEMAS.items():
        fresh = json.dumps(make_schema(), indent=2) + "\n"
        if arguments != ["--check"]:
            path.write_text(fresh, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != fresh:
            sys.stderr.write(f"{path.name} is stale; run: make openapi\n")
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
