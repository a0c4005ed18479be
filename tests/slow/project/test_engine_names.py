"""Where an engine has a name, and where each of them must have one."""

import re

import pytest

from shared.engines.registry import ENGINES
from tests.engine_names import engines_named_in
from tests.slow.project.test_architecture import CONTRACTS, PACKAGES, ROOT

#: Where an engine has a name: its folder and its program of the local stack, the two registries, and the
#: conditions of the templates, which make the nodes of one.
ENGINES_ARE_NAMED_IN = re.compile(
    rf"(?:shared/engines|local)/(?:azure)?(?:{'|'.join(ENGINES)})/|shared/engines/registry\.py|local/clusters/"
    r"|local/bicep/modules\.py"
)
#: Documents that people send by mistake, by what they call them.
FOREIGN = {
    "shared/jobspec/reader/foreign.py",
    "slipway/commands/validate/kind.py",
    "slipway/commands/init/command.py",
    "slipway/commands/init/foreign/sbatch.py",
    "slipway/commands/init/foreign/sbatch_options.py",
}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('Literal["emulator", "slurm"]', ["slurm"]),
        ('settings.text("SLIPWAY_BATCHAI_URL")', ["BATCHAI"]),
        ("from shared.engines.batchai.client import Workspace", ["batchai"]),
        ("port of the Batch AI emulator, or of slurmrestd", ["Batch AI emulator", "slurm"]),
        ('{"engine": "batch"}; a batch of messages, by upload-batch', ['"batch"']),
        ('"/providers/Microsoft.BatchAI/workspaces/" + os.environ["AZ_BATCHAI_JOB_TEMP"]', []),
        ("Dispatches Batch AI job files, as `az batchai` did", []),
    ],
)
def test_the_name_of_an_engine_is_no_word_of_the_job_format(text: str, named: list[str]) -> None:
    assert engines_named_in(text) == named


def test_only_the_registry_and_its_own_folder_name_an_engine() -> None:
    match = {
        name: engines
        for top in PACKAGES
        for path in (ROOT / top).rglob("*.py")
        for name in [path.relative_to(ROOT).as_posix()]
        if not ENGINES_ARE_NAMED_IN.match(name) and name not in FOREIGN
        if (engines := engines_named_in(path.read_text()))
    }

    assert match == {}


@pytest.mark.parametrize(
    ("contract", "option", "pattern"),
    [
        ("engines", "modules", "shared.engines.{}"),
        ("local-parts", "modules", "local.{}"),
    ],
)
def test_a_contract_that_names_engines_names_all(contract: str, option: str, pattern: str) -> None:
    modules = set(CONTRACTS[f"importlinter:contract:{contract}"][option].split())
    paths = {pattern.format(engine): pattern.format(engine).replace(".", "/") for engine in ENGINES}

    present = {
        module for module, path in paths.items() if (ROOT / path).is_dir() or (ROOT / f"{path}.py").is_file()
    }
    assert modules >= present, f"add it to {option!r} of the contract {contract!r} in .importlinter"
