"""Wire shapes of the responses to agents; what they upload is defined in `paceline_contract.items`."""

from __future__ import annotations

from paceline_server.kernel.wire import Response


class ItemsOut(Response):
    stored: int
    duplicates: int
