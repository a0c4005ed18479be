"""What `slipway run` would send, and what the app says of it before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shared.jobspec import redact
from slipway.client.calls.refusal import placed
from slipway.client.request.cost import NEVER, in_words, refuse
from slipway.client.snapshot.pack import size_of
from slipway.terminal.characters import printable
from slipway.terminal.screen import put, put_json

#: The warning that the code is not there, as it cannot be yet.
_NOT_SENT = "SW116"


def explained(plan: Mapping[str, Any], file: str, most: float | None = None, *, as_json: bool) -> int:
    """Show the files, the message and the app's words; 1 if the job would not run.

    Raises Failure if it may cost more than `most`.
    """
    message, explanation = redact(json.loads(plan["message"])), plan["explanation"]
    if as_json:
        put_json({**plan, "message": message})
    else:
        put(*(f"{size_of(file['bytes']):>10}  {printable(file['name'])}" for file in plan["files"]))
        put("", *json.dumps(message, indent=2).splitlines(), "")
        put(f"{explanation['verdict']}: {explanation['summary']}", *filter(None, [in_words(explanation)]))
        if problems := [one for one in explanation.get("problems", ()) if one.get("code") != _NOT_SENT]:
            put(*placed(problems, file).splitlines())
    if explanation.get("verdict") in NEVER:
        return 1
    refuse(explanation, file, most)
    return 0
