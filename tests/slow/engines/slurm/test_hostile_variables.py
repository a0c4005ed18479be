"""What a job chooses for its own processes reaches no program of Slipway's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.archives import COMMAND, FOLDER, PRINTED, packed
from tests.doubles.code_storage import CodeStorage, code_storage
from tests.hostile_variables import FOREIGN, UNHEARD, ours, prepare, variables
from tests.slow.engines.slurm.test_program import Nodes, custom

_HEARD = [name for name in FOREIGN if name not in UNHEARD]


@pytest.fixture
def storage() -> Iterator[CodeStorage]:
    with code_storage() as server:
        yield server


@pytest.fixture(params=[1, 2])
def nodes(request: pytest.FixtureRequest, tmp_path: Path) -> Nodes:
    return Nodes(tmp_path, nodes=request.param)


def _journals(nodes: Nodes) -> str:
    logs = nodes.root / "mnt/logs/jobs/n/7-0/stdouterr"
    return "".join(path.read_text() for path in logs.glob("execution*.log"))


@pytest.mark.parametrize("name", FOREIGN)
def test_a_job_with_a_variable_that_would_break_a_program_gets_its_code_and_runs(
    nodes: Nodes, storage: CodeStorage, name: str
) -> None:
    folder = prepare(nodes.root / "hostile")
    nodes.site = replace(nodes.site, code=storage.source(packed(*FOLDER)))
    chosen = variables({name: FOREIGN[name]}, folder)

    code = nodes.run(
        **custom("test -f train.py"),
        environmentVariables=chosen,
        jobPreparation={"commandLine": "test -f train.py"},
    )

    assert code == (251 if name == "BASH_ENV" else 0), "the job's own shells read that file"
    assert "canary" not in _journals(nodes)


def test_all_of_them_together_hold_in_the_processes_of_the_job(nodes: Nodes, storage: CodeStorage) -> None:
    folder = prepare(nodes.root / "hostile")
    nodes.site = replace(nodes.site, code=storage.source(packed(*FOLDER)))
    names = {name: value for name, value in FOREIGN.items() if name != "BASH_ENV"}

    code = nodes.run(
        **custom("; ".join(f'echo "{name}=${name}"' for name in _HEARD if name in names)),
        environmentVariables=variables(names, folder),
    )

    assert (code, _journals(nodes).count("canary")) == (0, 0)
    shown = dict(line.partition("=")[::2] for line in nodes.output("stdout.txt").splitlines())
    expected = {one["name"]: one["value"] for one in variables(names, folder)}
    assert shown == {name: expected[name] for name in _HEARD if name in names}


@pytest.mark.parametrize("list_of", ["environmentVariables", "secrets"])
def test_the_names_of_ours_hold_for_our_steps_where_the_document_sets_them(
    nodes: Nodes, storage: CodeStorage, list_of: str
) -> None:
    nodes.site = replace(nodes.site, code=storage.source(packed(*FOLDER)))

    properties: dict[str, Any] = {list_of: variables(ours(), nodes.root)}
    code = nodes.run(**custom(COMMAND), **properties, jobPreparation={"commandLine": "test -f train.py"})

    assert (code, nodes.output("stdout.txt")) == (0, PRINTED), nodes.output("stderr.txt")
    assert nodes.record()["final"]
    assert not list((nodes.root / "temporary").glob("*/*"))


def test_each_rank_has_what_the_job_chose_and_its_own_number(tmp_path: Path) -> None:
    two = Nodes(tmp_path, nodes=2)
    folder = prepare(two.root / "hostile")
    (two.root / "r.sh").write_text('echo "$AZ_BATCHAI_TASK_INDEX $PATH $UID"\n')
    script = {"pythonScriptFilePath": str(two.root / "r.sh"), "pythonInterpreterPath": "/bin/bash"}
    names = {**{name: FOREIGN[name] for name in FOREIGN if name != "BASH_ENV"}, "AZ_BATCHAI_TASK_INDEX": "7"}

    code = two.run(
        pyTorchSettings={**script, "processCount": 3},
        environmentVariables=variables(names, folder),
    )

    assert code == 0
    lines = [two.output(f"stdout-{rank}.txt").split()[:2] for rank in range(3)]
    assert lines == [[str(rank), f"{folder}/bin"] for rank in range(3)]


#: Starts two processes with the variables that -x names, and notes what it began with itself.
_MPIRUN = """#!/bin/bash
printf '%s\\n' "$PATH" "${LD_PRELOAD-none}" "${OMPI_MCA_btl-none}" >"${0%/*}/began"
kept=()
while [ $# -gt 0 ]; do
  case $1 in
    -x) kept+=("$2=${!2}"); shift 2 ;;
    --bind-to | --hostfile | --map-by | -n) shift 2 ;;
    --*) shift ;;
    *) break ;;
  esac
done
for rank in 0 1; do env -i PATH=/usr/bin:/bin OMPI_COMM_WORLD_RANK=$rank "${kept[@]}" "$@" || exit; done
"""


def test_mpirun_begins_without_what_the_job_chose_and_its_processes_have_it(tmp_path: Path) -> None:
    nodes = Nodes(tmp_path)
    folder = prepare(nodes.root / "hostile")
    (nodes.root / "mpi").mkdir()
    (nodes.root / "mpi/mpirun").write_text(_MPIRUN)
    (nodes.root / "mpi/mpirun").chmod(0o755)
    nodes.site = replace(nodes.site, path=f"{nodes.root}/mpi:{nodes.site.path}")
    chosen = {"PATH": "FOLDER/bin", "LD_PRELOAD": "/no/canary.so", "OMPI_MCA_btl": "self,tcp", "A": "1 '2'"}

    code = nodes.run(
        customMpiSettings={"commandLine": 'echo "$PATH $A $OMPI_MCA_btl"', "processCount": 2},
        environmentVariables=variables(chosen, folder),
    )

    assert code == 0, nodes.output("stderr.txt")
    assert nodes.output("stdout.txt") == f"{folder}/bin 1 '2' self,tcp\n" * 2
    assert (nodes.root / "mpi/began").read_text().splitlines() == [nodes.site.path, "none", "self,tcp"]
