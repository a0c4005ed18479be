"""Files of other systems: one with each member that the format has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from slipway.commands.init.foreign import azure_ml, dstack, sky
from slipway.commands.init.foreign.azure_data import OF_INPUT, OF_OUTPUT
from slipway.commands.init.foreign.draft import Rule
from slipway.commands.init.foreign.sbatch_options import OPTIONS
from slipway.commands.init.foreign.translate import Translation, translate

#: What `*` is called in a file.
NAME = "thing"
SECRET = "hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ" + "aBcDeFgH"


class Format(NamedTuple):
    """A format, the smallest file of it, and the value of each member that a plain text does not fit."""

    rules: Mapping[str, Rule]
    base: Mapping[str, Any]
    values: Mapping[str, Any]


FORMATS = {
    "SkyPilot": Format(
        sky.RULES,
        {"run": "python train.py"},
        {
            "num_nodes": 2,
            "workdir": "code",
            "secrets": ["HF_TOKEN"],
            "resources.image_id": "docker:debian:12",
            "resources.job_recovery.max_restarts_on_errors": 2,
        },
    ),
    "dstack": Format(
        dstack.RULES,
        {"type": "task", "commands": ["python train.py"], "image": "debian:12"},
        {
            "nodes": 2,
            "type": "task",
            "commands": ["python other.py"],
            "env": ["LR=1"],
            "shell": "sh",
            "image": "debian:13",
            "max_duration": "4h",
            "resources.shm_size": "16GB",
        },
    ),
    "Azure ML": Format(
        azure_ml.RULES,
        {
            "type": "command",
            "command": "python train.py",
            "environment": {"image": "debian:12"},
            "resources": {"instance_count": 1},
            "distribution": {"type": "mpi"},
        },
        {
            "$schema": "https://azuremlschemas.azureedge.net/latest/commandJob.schema.json",
            "type": "command",
            "code": "code",
            "environment.image": "debian:13",
            "environment.conda_file": {"dependencies": ["python=3.12"]},
            "distribution.type": "pytorch",
            "distribution.process_count_per_instance": 2,
            "resources.instance_count": 2,
            "resources.shm_size": "16g",
            "limits.timeout": 60,
            "queue_settings.priority": "high",
        },
    ),
}
#: Values of the options of `sbatch` that are not plain words.
OPTION_VALUES = {
    "nodes": "2",
    "time": "1-02:00:00",
    "mem": "16G",
    "gres": "gpu:a100:2",
    "gpus": "2",
    "gpus-per-node": "a100:2",
    "cpus-per-task": "4",
    "ntasks-per-node": "2",
    "export": "LR=1",
}
#: What says which file it is, and what a base has already.
SAYS_WHICH = {"type", "$schema", "command", "environment.$schema"}
MEMBERS = [
    *((system, path) for system, one in FORMATS.items() for path in one.rules),
    *(("Azure ML", f"inputs.*.{name}") for name in OF_INPUT),
    *(("Azure ML", f"outputs.*.{name}") for name in OF_OUTPUT),
]


def document(system: str, path: str, value: Any = None, name: str = NAME) -> dict[str, Any]:
    """The smallest file of a system with a member at a place, which stands at its end."""
    one = FORMATS[system]
    whole = json.loads(json.dumps(one.base))
    node, names = whole, [name if word == "*" else word for word in path.split(".")]
    for word in names[:-1]:
        if not isinstance(node.get(word), dict):
            node[word] = {}
        node = node[word]
    node[names[-1]] = one.values.get(path, "a text") if value is None else value
    return dict(whole)


def translated(folder: Path, content: Any, name: str = "job.yaml") -> Translation:
    """What a file becomes; `content` is its text, or what is written as JSON, a member a line."""
    (folder / "code").mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    (folder / name).write_text(text)
    return translate(folder / name)


def script(*options: str) -> str:
    return "\n".join(["#!/bin/bash", *(f"#SBATCH {option}" for option in options), "python train.py", ""])


def option(name: str) -> str:
    """An option with a value that it takes."""
    value = OPTION_VALUES.get(name, "word")
    return f"--{name}" if OPTIONS[name].value == "none" else f"--{name}={value}"
