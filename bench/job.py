"""The job that everything is measured with: 1.8 KB of job.json, 1.9 KB as a message, which runs /bin/true."""

from __future__ import annotations

import json
from typing import Any

#: A job.json of a recipe's size, with variables and without mounts, and a command that costs nothing.
SPEC: dict[str, Any] = {
    "properties": {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": "/bin/true"},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "environmentVariables": [
            {"name": f"SETTING_{number}", "value": "a value of the usual length, such as a path"}
            for number in range(20)
        ],
        "constraints": {"maxWallClockTime": "PT1H"},
    }
}


def message(hook: str, command: str = "/bin/true") -> bytes:
    """What is enqueued: the envelope with one receiver."""
    spec = {"properties": {**SPEC["properties"], "customToolkitSettings": {"commandLine": command}}}
    document = {
        "spec": spec,
        "notify": [{"url": hook, "secret": "default", "events": ["succeeded", "failed"]}],
    }
    return json.dumps(document).encode()


MESSAGE = message("http://127.0.0.1:1/hooks/bench")
