"""The JSON Schema of a job.json as people write it, for editors; generated from the models.

`python -m shared.jobspec.schema > docs/job.schema.json` writes it; a test compares.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from shared.jobspec.format.models import JobSpec
from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.text.tree import JsonObject

#: The members that completion supplies, so that a file may leave them out.
_COMPLETED = {
    "JobProperties": ("cluster", "stdOutErrPathPrefix"),
    "AzureFileShare": ("accountName",),
}


def job_schema() -> JsonObject:
    """The schema before completion: less is required than of a `JobSpec`, and exactly one toolkit."""
    generated = JobSpec.model_json_schema(by_alias=True)
    definitions = generated["$defs"]
    for name, supplied in _COMPLETED.items():
        required = definitions[name]["required"]
        definitions[name]["required"] = [member for member in required if member not in supplied]
    properties = definitions["JobProperties"]
    properties["oneOf"] = [{"required": [name]} for name in TOOLKITS]
    properties["properties"]["cluster"] = {
        "anyOf": [properties["properties"]["cluster"], {"type": "string"}],
        "description": "The cluster's configured name or its full id; the default cluster if absent",
    }
    schema: JsonObject = simplified(generated)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Batch AI job, API 2018-05-01",
    }


def schema_text() -> str:
    """The JSON schema of a job file, as docs/job.schema.json holds it."""
    return json.dumps(job_schema(), indent=2, ensure_ascii=False) + "\n"


def simplified(node: Any, *, names: bool = False) -> Any:
    """A schema without pydantic's titles; members with the default None are optional, and never null.

    `names`: the keys here are names of properties.
    """
    if isinstance(node, list):
        return [simplified(item) for item in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {name: simplified(value) for name, value in node.items()}
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1 and node.get("default", branches) is None:
        rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
        return simplified({**branches[0], **rest})
    return {
        key: simplified(value, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if key != "title" and not (key == "default" and value is None)
    }


if __name__ == "__main__":
    sys.stdout.write(schema_text())
