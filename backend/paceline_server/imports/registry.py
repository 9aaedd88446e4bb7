"""The importers by format; a new format needs a file with an `Importer` and a line here."""

from __future__ import annotations

from typing import Any

from paceline_server.imports.criterion import CriterionImporter
from paceline_server.imports.importer import Importer
from paceline_server.imports.logcat import LogcatImporter

IMPORTERS: dict[str, Importer[Any]] = {
    "criterion": CriterionImporter(),
    "logcat": LogcatImporter(),
}
