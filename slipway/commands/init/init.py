"""`slipway init`: a folder with a script, its job.json, and the packages that it needs."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from slipway.client.request.compose import Choices, compose
from slipway.client.request.packages import REQUIREMENTS
from slipway.commands.asking import show
from slipway.commands.init.templates import SWEEP, TEMPLATES, Template
from slipway.commands.init.writing import write_files
from slipway.failure import UNKNOWN, Failure

_SCRIPT = "train.py"
#: The prefix of output paths, unless a deployment says otherwise.
_PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"


def run(template: str, to: Path | None, *, as_json: bool = False) -> int:
    """Write the folder, and show the next step. Raises Failure, also if a file exists."""
    folder = to or Path(template)
    if template == "sweep":
        write_files(folder, {"sweep.json": json.dumps(SWEEP, indent=2) + "\n"})
        path = folder / "sweep.json"
        done = {"folder": str(folder), "files": ["sweep.json"]}
        show(done, lambda _: [f"wrote {path}; submit it: slipway submit {path}"], as_json=as_json)
        return 0
    if template not in TEMPLATES:
        raise Failure(
            f"there is no template {template[:40]!r}; there are {', '.join([*TEMPLATES, 'sweep'])}", UNKNOWN
        )
    chosen = TEMPLATES[template]
    choices = Choices(chosen.nodes, chosen.image)
    document = compose(_SCRIPT, choices, _PREFIX, packages=REQUIREMENTS if chosen.packages else "")
    script = document["properties"].pop("pyTorchSettings")
    properties = {
        "nodeCount": chosen.nodes,
        chosen.toolkit: {**script, **chosen.members},
        **document["properties"],
    }
    files = {_SCRIPT: chosen.script, "job.json": json.dumps({"properties": properties}, indent=2) + "\n"}
    if chosen.packages:
        files[REQUIREMENTS] = "".join(f"{package}\n" for package in chosen.packages)
    write_files(folder, files)
    show(
        {"folder": str(folder), "files": list(files)},
        lambda _: _words(folder, files, chosen),
        as_json=as_json,
    )
    return 0


def _words(folder: Path, files: Iterable[str], chosen: Template) -> list[str]:
    """The written files, with remarks."""
    packages = " and ".join(chosen.packages)
    return [
        f"wrote {folder}{os.sep} with {', '.join(files)}; run it: slipway run {folder}",
        *([f"each node first installs {packages}; an image that has them starts faster"] if packages else []),
        *([f"it needs nodes that run images: {chosen.image}"] if chosen.image else []),
    ]
