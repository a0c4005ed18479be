"""The service's own description of its bodies, 2024-07-01.20.0, made strict: no member that it does not know.

It is not ours and not committed: AZURE_BATCH_SWAGGER names the file, else one that lies beside the checkout
is taken.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator

_USUAL = Path(__file__).parents[5] / "shared" / "reference" / "AzureBatch-2024-07-01.20.0.json"
FILE = Path(os.environ.get("AZURE_BATCH_SWAGGER", _USUAL))


def faults(definition: str, body: Any) -> list[str]:
    """What is wrong with a body by a definition."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    for one in document["definitions"].values():
        if "properties" in one:
            one["additionalProperties"] = False
    schema = {"$ref": f"#/definitions/{definition}", "definitions": document["definitions"]}
    return [f"{list(one.path)}: {one.message}" for one in Draft4Validator(schema).iter_errors(body)]
