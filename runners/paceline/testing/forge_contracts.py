"""Reads what forges publish about their APIs, reduced to the routes and fields that Paceline uses.

`forge_descriptions/` has the excerpts with their source. The fake forge takes its rules from them and a test holds its
answers to them; `make test-forge` compares Gitea's with what a real Gitea serves. For another version:

    python -m paceline.testing.forge_contracts github SOURCE LICENCE <api.github.com.json
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_ISSUES = "/repos/{}/{}/issues"
ROUTES: dict[str, tuple[tuple[str, str], ...]] = {
    "github": (
        ("post", "/repos/{}/{}/statuses/{}"),
        ("get", f"{_ISSUES}/{{}}/comments"),
        ("post", f"{_ISSUES}/{{}}/comments"),
        ("patch", f"{_ISSUES}/comments/{{}}"),
        ("delete", f"{_ISSUES}/comments/{{}}"),
        ("get", "/repos/{}/{}/pulls/{}"),
        ("get", "/repos/{}/{}/pulls"),
        ("get", "/repos/{}/{}/collaborators/{}/permission"),
        ("get", "/repos/{}/{}/actions/runs/{}/artifacts"),
        ("get", "/repos/{}/{}/actions/artifacts/{}/{}"),
    ),
}
ROUTES["forgejo"] = ROUTES["github"][:6] + ROUTES["github"][7:8]
FIELDS = frozenset(
    [
        *("artifacts", "base", "body", "expired", "full_name", "head", "html_url"),
        *("id", "name", "number", "permission", "pushed_at", "ref", "repo", "sha"),
        *("state", "status", "title", "total_count"),
    ]
)
"""What is read of an answer, or given by the fake."""


def load_contract(kind: str) -> Json:
    """Return the excerpt of a forge's description."""
    path = Path(__file__).with_name("forge_descriptions") / f"{kind}.json"
    contract: Json = json.loads(path.read_text(encoding="utf-8"))
    return contract


def find_route(contract: Json, method: str, path: str) -> Json | None:
    """Return what the contract says of a request; None for a route that it lacks."""
    parts = path.split("/")
    for route, rules in contract["routes"].items():
        known_method, known_path = route.split(" ")
        known = known_path.split("/")
        if (known_method, len(known)) == (method, len(parts)) and all(
            name in ("{}", part) for name, part in zip(known, parts, strict=True)
        ):
            found: Json = rules
            return found
    return None


def make_contract(kind: str, description: Json, source: str, licence: str) -> Json:
    """Return the excerpt of a description in Swagger 2 or OpenAPI 3."""
    reader = _Reader(description)
    paths = {_without_names(path): item for path, item in description["paths"].items()}
    return {
        "source": source,
        "version": description["info"]["version"],
        "licence": licence,
        "routes": {
            f"{method.upper()} {path}": reader.read_operation(paths[path][method])
            for method, path in ROUTES[kind]
        },
    }


def _without_names(path: str) -> str:
    """Return the path with {} for each of its variables; `{index}.{diffType}` is another route's."""
    return re.sub(r"/\{\w+\}(?=/|$)", "/{}", path)


class _Reader:
    def __init__(self, description: Json) -> None:
        self._description = description

    def read_operation(self, operation: Json) -> Json:
        parameters = [self._resolve(item) for item in operation["parameters"]]
        bodies: list[Any] = [
            item["schema"] for item in parameters if item["in"] == "body"
        ]
        if "requestBody" in operation:
            bodies = [_media(operation["requestBody"])]
        answers = {
            status: self._shape(_media(self._resolve(answer)))
            for status, answer in operation["responses"].items()
        }
        query = sorted(item["name"] for item in parameters if item["in"] == "query")
        return {
            "query": query,
            "body": self._body(bodies[0]) if bodies else None,
            "answers": answers,
        }

    def _body(self, schema: Json) -> Json:
        schema = self._resolve(schema)
        properties = {
            name: {
                key: value
                for key, value in self._resolve(item).items()
                if key in {"type", "enum", "maxLength"}
            }
            for name, item in schema["properties"].items()
        }
        return {"required": schema.get("required", []), "properties": properties}

    def _shape(self, schema: Json | None) -> Any:
        """Return the types of the fields that are read; None for an answer without any."""
        if schema is None:
            return None
        schema = self._resolve(schema)
        for key in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(key, ()):
                if "properties" in (resolved := self._resolve(part)):
                    schema = resolved
        if schema.get("type") == "array":
            return [self._shape(schema["items"])]
        if "properties" in schema:
            return {
                name: self._shape(item)
                for name, item in sorted(schema["properties"].items())
                if name in FIELDS
            }
        return schema.get("type")

    def _resolve(self, item: Json) -> Json:
        while "$ref" in item:
            found: Any = self._description
            for name in item["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            item = found
        return item


def _media(answer: Json) -> Json | None:
    """Return the schema of a body: of Swagger 2 it stands beside the description, of OpenAPI 3 by media type."""
    if "content" in answer:
        schema: Json | None = (
            answer["content"].get("application/json", {}).get("schema")
        )
        return schema
    return answer.get("schema")


if __name__ == "__main__":
    chosen, where, terms = sys.argv[1:]
    made = make_contract(chosen, json.load(sys.stdin), where, terms)
    sys.stdout.write(json.dumps(made, indent=1) + "\n")
