"""Reads the bodies of requests: common members, and errors. Pure."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from local.azurebatch.settings import MOST_NODES
from local.azurebatch.state.errors import BatchError, invalid, lacking
from local.azurebatch.state.moment import duration

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Opaque = dict[str, Any]
#: A number, never in quotes. Each use sets its bounds: of two lower bounds pydantic keeps the last.
Whole = Annotated[int, Strict()]
LARGEST = 2**31 - 1
#: The longest time between two evaluations of a formula.
_LONGEST = timedelta(hours=168)
Nodes = Annotated[int, Strict(), Field(ge=0, le=MOST_NODES)]


class Body(BaseModel):
    """An object with the members of its class in camel case, and no others."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")


B = TypeVar("B", bound=Body)


class Pair(Body):
    """A name with a value."""

    name: str
    value: str | None = None


class ResourceFile(Body):
    """A file to copy to a node, if it has `httpUrl`."""

    http_url: str | None = None
    file_path: str | None = None
    file_mode: str | None = None
    blob_prefix: str | None = None
    storage_container_url: str | None = None
    auto_storage_container_name: str | None = None
    identity_reference: Opaque | None = None


#: Features of the service that this emulator lacks, each with an alternative.
_NOT_DONE = {
    "containerSettings": "runs containers for tasks only: start this one by the command line",
    "identityReference": "does not have identities: upload by a signature in containerUrl",
    "jobManagerTask": "does not emulate job manager tasks: add it to the job as a task",
    "autoPoolSpecification": "does not emulate automatic pools: make a pool, and name it by poolId",
    "cloudServiceConfiguration": "does not emulate Cloud Services, which Azure retired: "
    "use virtualMachineConfiguration",
}


#: Such features that are accepted if empty.
_NOT_FILLED = {
    "applicationPackageReferences": "does not emulate application packages: bring files by resourceFiles",
    "certificateReferences": "does not emulate certificates, which Azure retired: use resourceFiles",
}


def read(model: type[B], body: Mapping[str, Any]) -> B:
    """The checked body. Raises BatchError, which names the first wrong property."""
    for name in [name for name in _NOT_FILLED if body.get(name)]:
        raise invalid(name, "", f"This emulator {_NOT_FILLED[name]}")
    try:
        value = model.model_validate(dict(body))
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # What the emulator lacks explains a required member that is missing.
        first = next((one for one in errors if one["loc"] and one["loc"][-1] in _NOT_DONE), errors[0])
        raise _refusal(first["type"], [str(part) for part in first["loc"]], first) from None
    return value


def is_text(value: Any) -> bool:
    """Whether all names and values of a document are text that a file or a process can hold."""
    if isinstance(value, Mapping):
        return all(is_text(name) and is_text(one) for name, one in value.items())
    if isinstance(value, list):
        return all(map(is_text, value))
    return not isinstance(value, str) or not any(one == "\0" or "\ud800" <= one <= "\udfff" for one in value)


def shown(body: Body) -> dict[str, Any]:
    """The members that the caller sent."""
    return body.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)


def check_duration(text: str, name: str, least: str = "PT0S") -> None:
    """Check the form and the minimum of a duration. Raises BatchError."""
    length, bound = duration(text, name), duration(least, name)
    if length is not None and bound is not None and length < bound:
        raise invalid(name, text, f"The duration is less than {least}")


def check_interval(text: str) -> None:
    """Check how often a formula is evaluated. Raises BatchError."""
    check_duration(text, "autoScaleEvaluationInterval", "PT5M")
    length = duration(text, "autoScaleEvaluationInterval")
    if length is None or length > _LONGEST:
        raise invalid("autoScaleEvaluationInterval", text, "The duration is more than PT168H")


def check_files(name: str, files: Iterable[ResourceFile]) -> None:
    """Check that every file has an `httpUrl`; others are not supported. Raises BatchError."""
    for file in files:
        if not file.http_url or not file.file_path:
            raise invalid(name, "", "This emulator brings only files that have httpUrl and filePath")


def _refusal(kind: str, where: list[str], error: Mapping[str, Any]) -> BatchError:
    name = where[-1] if where else "body"
    if kind == "missing":
        return lacking(name)
    if name in _NOT_DONE:
        return invalid(name, "", f"This emulator {_NOT_DONE[name]}")
    if kind == "extra_forbidden":
        message = "The specified Request Body is not syntactically valid."
        reason = f"The property '{name}' does not exist on {'/'.join(where[:-1]) or 'the body'}"
        return BatchError(400, "InvalidRequestBody", message, {"Reason": reason})
    return invalid(".".join(where), str(error.get("input", ""))[:100], str(error["msg"]))
