"""The OpenAPI 3.1 document of the HTTP API, made from the declarations of its operations.

They are those of the modules that were imported before. `python -m functions.openapi.document` prints all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from functions.openapi.elements import OPERATIONS, UNLESS_SAME, Body, Content, Operation, Parameter, Raw
from functions.problem import TITLES
from shared import __version__
from shared.answers.base import Answer
from shared.intake.reading.event import SUBMIT
from shared.jobspec import Envelope, schema

#: The modules of `shared.answers` that name answers; the others belong to these.
_ANSWERS = (
    "cancelled",
    "code",
    "entry",
    "events",
    "job",
    "job_parts",
    "job_sweep",
    "clusters",
    "operate",
    "output",
    "overview",
    "problem",
    "teams",
    "trail",
)
_SCHEMAS = "#/components/schemas/"
_JSON, _PROBLEM = "application/json", "application/problem+json"
_EVENT = "application/cloudevents+json"
_LEVELS = {
    "id": "the id of a job, a sweep, an event or a dead message",
    "directory": "`stdouterr`, or the id of an output directory",
    "path": "the file's path, with slashes as they are",
    "sha256": "the SHA-256 digest of the archive, as 64 lowercase hexadecimal digits",
}
_INFO = {
    "title": "Slipway",
    "version": __version__,
    "description": (
        "Jobs, what they wrote, their events, and the operation of a deployment.\n\n"
        "Every answer of the app has the header `Slipway-Api`, and every refusal of the app is a problem "
        "document. An answer without that header is of the Functions host, or of a gateway, and may be "
        "empty: 401 for a function key that the host does not know, 404 while the app starts and for calls "
        "of other versions, 413 or 500 for a body of more than 100 MiB, 414 for a long address, 431 for "
        "large headers."
    ),
    "license": {"name": "MIT", "identifier": "MIT"},
}
#: What the Functions host answers by itself.
_BY_THE_HOST = dict.fromkeys((401, 404, 413, 500), ". Empty where the host refuses the call, not the app")
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
_WAYS_IN = {
    "functionKey": {"type": "apiKey", "in": "header", "name": "x-functions-key"},
    "token": {"type": "http", "scheme": "bearer", "description": "an access token of Entra ID"},
}


@cache
def text() -> str:
    """The document in the form that is served."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def document() -> dict[str, Any]:
    """The OpenAPI document of every operation, with the schemas that they name."""
    paths: dict[str, Any] = {}
    for name, operation in OPERATIONS.items():
        path = "/api/" + operation.route.replace("{*", "{")
        call = paths.setdefault(path, {})[operation.method.lower()] = _operation(name, operation)
        if operation.head:
            paths[path]["head"] = _head(call)
    refusals = {f"Refusal{status}": _response(status, "ProblemDocument") for status in TITLES}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "security": [{name: []} for name in _WAYS_IN],
        "paths": paths,
        "components": {"securitySchemes": _WAYS_IN, "responses": refusals, "schemas": _schemas()},
    }


def _operation(name: str, operation: Operation) -> dict[str, Any]:
    members: dict[str, Any] = {"operationId": name, "summary": operation.summary}
    if operation.description:
        members["description"] = _LINK.sub(r"\1", operation.description)
    levels = re.findall(r"{\*?(\w+)}", operation.route)
    parameters = [
        {"name": level, "in": "path", "required": True, "description": _LEVELS[level]}
        | {"schema": {"type": "string", "minLength": 1}}
        for level in levels
    ]
    parameters += [_parameter(one, "query") for one in operation.query]
    validators = [UNLESS_SAME] if _answers_json(operation) else []
    parameters += [_parameter(one, "header") for one in (*operation.headers, *validators)]
    members |= {"parameters": parameters} if parameters else {}
    members |= {"requestBody": _body(operation.body)} if operation.body else {}
    responses: dict[int, Any] = {
        status: {"$ref": f"#/components/responses/Refusal{status}"} for status in operation.statuses
    }
    own = {**operation.refusals, **operation.answers, **({304: None} if validators else {})}
    responses |= {status: _response(status, content) for status, content in own.items()}
    members["responses"] = {str(status): responses[status] for status in sorted(responses)}
    return members | ({"security": []} if operation.public else {})


def _head(call: Mapping[str, Any]) -> dict[str, Any]:
    """The same call without the body of its answer."""
    answers = {status: {"description": "As of GET, without a body"} for status in call["responses"]}
    name = f"head_{call['operationId'].removeprefix('get_')}"
    return {**call, "operationId": name, "responses": answers}


def _answers_json(operation: Operation) -> bool:
    """Whether a GET answers JSON, which has an ETag."""
    content = operation.answers.get(200)
    kinds = content.content if isinstance(content, Raw) else [_JSON]
    return operation.method == "GET" and content is not None and _JSON in kinds


def _parameter(one: Parameter, location: str) -> dict[str, Any]:
    shown = {"name": one.name, "in": location, "description": one.description, "schema": dict(one.schema)}
    return shown | ({"example": one.example} if one.example else {})


def _body(body: Body) -> dict[str, Any]:
    schemas = [_reference(one) if isinstance(one, str) else one for one in body.schemas]
    choice = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    content: dict[str, Any] = {body.kind: {"schema": choice}}
    if body.in_event:
        content[_EVENT] = {"schema": _event(choice)}
    return {"description": body.description, "required": not body.optional, "content": content}


def _event(data: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a CloudEvent in structured mode with such data; other attributes are allowed."""
    words: dict[str, Any] = {name: {"type": "string", "minLength": 1} for name in ("source", "id")}
    attributes = {"specversion": {"const": "1.0"}, "type": {"const": SUBMIT}, **words, "data": data}
    return {"type": "object", "properties": attributes, "required": list(attributes)}


def _response(status: int, content: Content) -> dict[str, Any]:
    if isinstance(content, Raw):
        members: dict[str, Any] = {"description": "Elsewhere" if status == 307 else "It worked"}
        if content.headers:
            members["headers"] = {
                name: {"description": text, "schema": {"type": "string"}}
                for name, text in content.headers.items()
            }
        kinds = {kind: {"schema": _schema(one)} for kind, one in content.content.items()}
        return members | ({"content": kinds} if kinds else {})
    if content is None:
        return {"description": "Not changed"}
    kind = _PROBLEM if status >= 400 else _JSON
    title = TITLES.get(status, "") + _BY_THE_HOST.get(status, "")
    description = title if status >= 400 else (answer_types()[content].__doc__ or "").partition("\n")[0]
    return {"description": description, "content": {kind: {"schema": _schema(content)}}}


def _schema(one: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return _reference(one) if isinstance(one, str) else one


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"{_SCHEMAS}{name}"}


def _schemas() -> dict[str, Any]:
    """The schemas of the answers, the message and the job file; each has a name of its own."""
    _, definitions = models_json_schema(
        [(model, "validation") for model in _models()], ref_template=_SCHEMAS + "{model}"
    )
    schemas: dict[str, Any] = schema.simplified(definitions["$defs"], names=True)
    message = schemas.pop("Envelope")
    message["properties"]["spec"] = _reference("JobFile")
    job_file = json.loads(json.dumps(schema.job_schema()).replace("#/$defs/", _SCHEMAS))
    del job_file["$schema"]
    named = {"JobMessage": message, "JobFile": job_file, **job_file.pop("$defs")}
    if twice := named.keys() & schemas.keys():
        raise ValueError(f"two schemas are named {', '.join(sorted(twice))}: rename those in shared/answers")
    return dict(sorted({**schemas, **named}.items()))


def _models() -> list[type[BaseModel]]:
    return [Envelope, *(answer_types()[name] for name in named_answers())]


def named_answers() -> list[str]:
    """The names of all answers that operations declare, and of every refusal."""
    contents = [one for operation in OPERATIONS.values() for one in operation.answers.values()]
    contents += [one for operation in OPERATIONS.values() for one in operation.refusals.values()]
    parts = [part for one in contents for part in (one.content.values() if isinstance(one, Raw) else [one])]
    return ["ProblemDocument", *dict.fromkeys(part for part in parts if isinstance(part, str))]


@cache
def answer_types() -> Mapping[str, type[Answer]]:
    """The types of answers by their names, of which there is one each."""
    modules = [import_module(f"shared.answers.{name}") for name in _ANSWERS]
    members = [one for module in modules for one in vars(module).values() if isinstance(one, type)]
    return {one.__name__: one for one in members if issubclass(one, Answer) and one is not Answer}


if __name__ == "__main__":
    import sys

    import function_app  # noqa: F401 - its modules declare the operations

    sys.stdout.write(text())
