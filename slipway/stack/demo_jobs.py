"""The jobs of the demo: those of `examples/`, with one node each where the cluster has one for a job."""

import shutil
from pathlib import Path

from slipway.settings import ROOT

EXAMPLES = ROOT / "examples"
_TWO, _ONE = '"nodeCount": 2', '"nodeCount": 1'


def demo_jobs(data: Path, *, spread: bool) -> Path:
    """The folder with them; a copy in the demo's data where they have to be changed."""
    if spread:
        return EXAMPLES
    copy = data / "examples"
    shutil.copytree(EXAMPLES, copy)
    for file in copy.rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(_TWO, _ONE), encoding="utf-8")
    return copy
