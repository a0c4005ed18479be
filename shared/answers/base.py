"""The base class of all responses, and words that many of them use."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from shared.core.caller import ROLES
from shared.core.states import JobState, Reason


class Answer(BaseModel):
    """A JSON object that the API returns. Names are snake case here and camel case on the wire.

    A member whose default is None is left out when it is not set; one that may be null has no default.
    Unknown members, from a newer version, are ignored.
    """

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
        use_attribute_docstrings=True,
    )

    def as_json(self) -> dict[str, Any]:
        """The object on the wire."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


#: A point in time, RFC 3339.
Time: TypeAlias = Annotated[AwareDatetime, PlainSerializer(datetime.isoformat, when_used="json")]
#: Plain strings, so that a client accepts a word that a newer version has added.
StateWord: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": [word.value for word in JobState]})]
ReasonWord: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": [word.value for word in Reason]})]
RoleWord: TypeAlias = Annotated[str, Field(json_schema_extra={"enum": sorted(ROLES)})]
