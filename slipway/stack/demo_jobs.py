"""The jobs of the demo: those of `examples/`, cut to one node each if the cluster gives a job only one."""

import shutil
from pathlib import Path

from slipway.settings import ROOT

EXAMPLES = ROOT / "examples"
_TWO, _ONE = '"nodeCount": 2', '"nodeCount": 1'


def demo_jobs(data: Path, *, spread: bool) -> Path:
    """Their folder; a copy in the demo's data if they have to be changed."""
    if spread:
        return EXAMPLES
    copy = data / "examples"
    shutil.copytree(EXAMPLES, copy)
    for file in copy.rglob("*.json"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(_TWO, _ONE), encoding="utf-8")
    return copy
