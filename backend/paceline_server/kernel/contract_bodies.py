"""Reads the body of a request as a type of the contract between agent and server.

Refusals name every wrong field, as those of our pydantic models do, and the OpenAPI document shows the type.
"""

from __future__ import annotations

from typing import Any

import msgspec
from paceline_contract.table_problems import table_problems
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from paceline_server.kernel.openapi import inlined_schema
from paceline_server.kernel.wire import is_storable

NOT_STORABLE = (
    "text contains NUL or a lone surrogate, or a number is beyond 64 bits or not finite"
)


class ContractBody:
    """Metadata of a handler's argument: `Annotated[FinishReport, ContractBody(FinishReport)]`."""

    def __init__(self, shape: type[msgspec.Struct]) -> None:
        self._shape = shape

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return inlined_schema(self._shape)

    def _read(self, value: Any) -> msgspec.Struct:
        if not is_storable(value):
            raise ValueError(NOT_STORABLE)
        try:
            return msgspec.convert(value, self._shape)
        except msgspec.ValidationError as error:
            problems = list(table_problems(value, self._shape)) or [((), str(error))]
            raise ValidationError.from_exception_data(
                self._shape.__name__,
                [
                    InitErrorDetails(
                        type=PydanticCustomError("contract", "{text}", {"text": text}),
                        loc=path,
                        input=None,
                    )
                    for path, text in problems
                ],
            ) from None
