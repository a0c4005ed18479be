"""The types of resources come from one process, which is asked for one after the other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from local.bicep.fetch import keep
from local.bicep.schema_program import NoTypesError, SchemaProgram
from local.bicep.types import Types

#: Answers as the program of @azure/mcp does; beside it stand its starts, and what it leaves undone.
PROGRAM = """#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with (here / "starts").open("a") as starts:
    starts.write(" ".join(sys.argv[1:]) + "\\n")
body = {{"$type": "Object", "name": "B", "properties": [{{"name": "name", "type": "string"}}]}}
print("warn: this is no JSON", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    print(json.dumps({{"jsonrpc": "2.0", "method": "notifications/message", "params": {{}}}}), flush=True)
    kind = asked["params"].get("arguments", {{}}).get("resource-type", "")
    if kind == "Example.Boats/wrecks":
        sys.exit(1)
    rows = [{{"$type": "Resource", "name": kind + "@2026-01-01", "bodyType": body}}]
    text = json.dumps({{"results": {{"BicepSchemaResult": rows}}}})
    if kind == "Example.Boats/rafts":
        text = json.dumps({{"status": 500, "message": "Resource type Example.Boats/rafts not supported."}})
    result = {{"content": [{{"type": "text", "text": text}}]}} if kind else {{}}
    if kind == "Example.Boats/riddles":
        result = {{"content": []}}
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": result}}), flush=True)
(here / "ended").touch()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "azmcp"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(0o755)
    return path


def test_one_process_serves_all_types_and_ends(tmp_path: Path, program: Path) -> None:
    kinds = ["Example.Boats/quays", "Example.Boats/rafts", "Example.Boats/harbours"]

    keep(program, kinds, tmp_path / "types")

    assert len((tmp_path / "starts").read_text().splitlines()) == 1
    assert (tmp_path / "ended").exists()
    types = Types(tmp_path / "types")
    named = [one.name for kind in kinds if (one := types.get(kind)) is not None]
    assert named == ["Example.Boats/quays@2026-01-01", "Example.Boats/harbours@2026-01-01"]
    assert [path.name for path in (tmp_path / "types").glob("*.none")] == ["example.boats_rafts.none"]


@pytest.mark.parametrize("kind", ["wrecks", "riddles"])
def test_a_program_that_gives_no_types_is_named_and_leaves_no_mark(
    tmp_path: Path, program: Path, kind: str
) -> None:
    with pytest.raises(NoTypesError, match="azmcp"):
        keep(program, [f"Example.Boats/{kind}"], tmp_path / "types")

    assert list((tmp_path / "types").iterdir()) == []


@pytest.mark.parametrize("text", [None, "#!/bin/sh\nexit 0\n"])
def test_a_program_that_does_not_run_is_named(tmp_path: Path, text: str | None) -> None:
    program = tmp_path / "azmcp"
    if text is not None:
        program.write_text(text)
        program.chmod(0o755)

    with pytest.raises(NoTypesError, match="azmcp"), SchemaProgram(program) as running:
        json.loads(running.schema("Example.Boats/quays"))
