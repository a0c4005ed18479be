"""Checks exchanges against the published description of API 2018-05-01, by openapi-core.

The description is not ours and not committed: BATCHAI_SWAGGER names the file, else one that lies beside the
checkout is taken. `overlay.json` holds what the service really did otherwise, each entry with its evidence.
"""

import json
import os
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

_USUAL = Path(__file__).parents[4] / "shared" / "reference" / "BatchAI-2018-05-01.json"
FILE = Path(os.environ.get("BATCHAI_SWAGGER", _USUAL))
OVERLAY = Path(__file__).with_name("overlay.json")
_IN_SCHEMA = ("type", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "enum", "default")
_JSON = "application/json"
_METHODS = ("get", "put", "post", "patch", "delete")


class Exchange:
    """A request and its answer, in the form that openapi-core asks for."""

    def __init__(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: bytes,
        status: int,
        answer: bytes,
        answer_type: str,
    ) -> None:
        self.host_url = "http://emulator"
        self.method = method.lower()
        self.path = path
        # Imported here: it takes 0.4 s of every process that collects these tests.
        from openapi_core.datatypes import RequestParameters
        from werkzeug.datastructures import ImmutableMultiDict

        self.parameters = RequestParameters(query=ImmutableMultiDict(query))
        self.body = body or None
        self.content_type = _JSON
        self.answer = _Answer(status, answer, answer_type)


class _Answer:
    def __init__(self, status: int, data: bytes, content_type: str) -> None:
        self.status_code = status
        self.data = data
        self.content_type = content_type
        self.headers: dict[str, str] = {}


class Contract:
    """The description with its overlay; it notes which operations were used."""

    def __init__(self, document: dict[str, Any], overlay: list[dict[str, Any]]) -> None:
        document = deepcopy(document)
        for entry in overlay:
            _put(document, entry["at"], entry["value"])
        self._paths = {path: path.split("/") for path in document["paths"]}
        self.operations = {
            operation["operationId"]: (method, path)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if method in _METHODS
        }
        self._ids = {place: name for name, place in self.operations.items()}
        from openapi_core import OpenAPI

        self._api = OpenAPI.from_dict(_converted(document))
        self.used: set[str] = set()

    def problems(self, exchange: Exchange) -> list[str]:
        """The problems of an exchange; none for requests that were refused."""
        from openapi_core.exceptions import OpenAPIError

        result = self._canonical(exchange.path)
        if result is None:
            return []
        template, exchange.path = result
        name = self._ids.get((exchange.method, template))
        if name is None:
            return []
        status = exchange.answer.status_code
        reports = f"{name} answered {status}"
        if not exchange.answer.data:
            return [] if status in (200, 202, 204) else [f"{reports} without a body"]
        # The service leaves out what is not set.
        problems = [f"{reports} with a null"] if b": null" in exchange.answer.data else []
        try:
            self._api.validate_response(exchange, exchange.answer)
        except OpenAPIError as error:
            problems.append(f"{reports}: {_described(error)}")
        if status < 400:
            self.used.add(name)
            try:
                self._api.validate_request(exchange)
            except OpenAPIError as error:
                problems.append(f"{reports} to a request that is none: {_described(error)}")
        return problems

    def note(self, exchange: Exchange) -> None:
        """Count an operation whose answer has no body as used."""
        result = self._canonical(exchange.path)
        if result and exchange.answer.status_code < 400:
            name = self._ids.get((exchange.method, result[0]))
            self.used |= {name} if name else set()

    def _canonical(self, path: str) -> tuple[str, str] | None:
        """The template of a path and the path in its spelling: ids do not depend on case."""
        values = path.split("/")
        for template, parts in self._paths.items():
            if len(parts) == len(values) and all(
                part.startswith("{") or part.lower() == own.lower()
                for part, own in zip(parts, values, strict=True)
            ):
                spelt = [
                    own if part.startswith("{") else part for part, own in zip(parts, values, strict=True)
                ]
                return template, "/".join(spelt)
        return None


def contract() -> Contract | None:
    """The contract, where its description is at hand."""
    if not FILE.is_file():
        return None
    return Contract(json.loads(FILE.read_text()), json.loads(OVERLAY.read_text()))


def _described(error: BaseException) -> str:
    """The error with its causes: the validator hides the place of a fault in them."""
    return "; ".join(_causes(error))


def _causes(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield str(error)
        for one in getattr(error, "schema_errors", ()):
            yield f"{one.message} at /{'/'.join(map(str, one.absolute_path))}"
        error = error.__cause__


def _put(document: dict[str, Any], pointer: str, value: Any) -> None:
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    place: Any = document
    for part in parents:
        place = place[part]
    if isinstance(place, list):
        place.append(value)
    else:
        place[last] = value


def _converted(document: dict[str, Any]) -> dict[str, Any]:
    """The same in OpenAPI 3.0, without the freedom to add properties that JSON Schema would leave."""
    schemas = {name: _closed(schema, document) for name, schema in document["definitions"].items()}
    paths = {
        path: {
            method: _operation(operation, document)
            for method, operation in methods.items()
            if method in _METHODS
        }
        for path, methods in document["paths"].items()
    }
    members = {
        "openapi": "3.0.3",
        "info": document["info"],
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    text = json.dumps(members).replace("#/definitions/", "#/components/schemas/")
    converted: dict[str, Any] = json.loads(text, object_hook=_without_default)
    return converted


def _without_default(part: dict[str, Any]) -> dict[str, Any]:
    """Defaults decide nothing here, and that of the wall clock is a duration of .NET, not of ISO 8601."""
    return {name: value for name, value in part.items() if name != "default" or isinstance(value, dict)}


def _operation(operation: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    parameters = [_resolved(one, document) for one in operation.get("parameters", ())]
    members: dict[str, Any] = {
        "operationId": operation["operationId"],
        "parameters": [_parameter(one) for one in parameters if one["in"] != "body"],
        "responses": {status: _response(one) for status, one in operation["responses"].items()},
    }
    for body in (one for one in parameters if one["in"] == "body"):
        content = {_JSON: {"schema": body["schema"]}}
        members["requestBody"] = {"required": body.get("required", False), "content": content}
    return members


def _resolved(one: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in one:
        return one
    kind, name = one["$ref"].split("/")[1:]
    result: Mapping[str, Any] = document[kind][name]
    return result


def _parameter(one: Mapping[str, Any]) -> dict[str, Any]:
    schema = {name: one[name] for name in _IN_SCHEMA if name in one}
    return {
        "name": one["name"],
        "in": one["in"],
        "required": one["in"] == "path" or one.get("required", False),
        "schema": schema,
    }


def _response(one: Mapping[str, Any]) -> dict[str, Any]:
    content = {"content": {_JSON: {"schema": one["schema"]}}} if "schema" in one else {}
    return {"description": one.get("description", ""), **content}


def _closed(schema: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what it inherits, refusing unknown properties."""
    merged = dict(schema)
    properties: dict[str, Any] = {}
    for base in merged.pop("allOf", ()):
        properties |= _closed(_resolved(base, document), document)["properties"]
    properties |= merged.get("properties", {})
    if properties:
        merged |= {"type": "object", "properties": properties, "additionalProperties": False}
    return merged
