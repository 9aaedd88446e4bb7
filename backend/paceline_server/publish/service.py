"""Renders verdicts in a requested format."""

from __future__ import annotations

import json

from sqlalchemy.orm import Session

from paceline_server.publish.junit import render_junit
from paceline_server.publish.markdown import render_markdown
from paceline_server.publish.schemas import SCHEMA, DocumentFormat, VerdictsOut
from paceline_server.publish.verdicts import verdicts_of_run


def render(verdicts: VerdictsOut, wanted: DocumentFormat) -> str:
    """Return the document as text that ends with a newline."""
    match wanted:
        case "json":
            return verdicts.model_dump_json(by_alias=True, indent=1) + "\n"
        case "junit":
            return render_junit(verdicts)
        case "markdown":
            return render_markdown(verdicts)


def verdicts_schema() -> str:
    """Return the JSON schema of the document, as the repository stores it."""
    schema = VerdictsOut.model_json_schema(mode="serialization") | {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:paceline:verdicts:1",
        "title": SCHEMA,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def render_run(session: Session, run_id: str, wanted: DocumentFormat) -> str:
    """Return the verdicts of a run in a format, as they are now. Raises 404."""
    return render(verdicts_of_run(session, run_id), wanted)
