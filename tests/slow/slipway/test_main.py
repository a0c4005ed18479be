"""The command itself: quick help, one line for an expected failure, the version."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.unit.slipway.commands.validate.test_validate_outputs import BROKEN, folder_with

ROOT = Path(__file__).resolve().parents[3]


def slipway(
    *arguments: str, code: str = "from slipway.main import main; main()"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_help_names_the_commands_and_imports_none_of_them() -> None:
    code = (
        "import sys\n"
        "from slipway.main import main\n"
        "try: main()\n"
        "finally: print([name for name in ('pydantic', 'azure', 'aiohttp', 'shared') if name in sys.modules])"
    )

    ran = slipway("--help", code=code)

    assert ran.returncode == 0, ran.stderr
    assert {"validate", "version"} <= set(ran.stdout.split())
    assert "..." not in ran.stdout.partition("First:")[2]  # so a cut sentence would end
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_shell_completes_the_names_of_commands() -> None:
    expected = {"_SLIPWAY_COMPLETE": "complete_bash", "COMP_WORDS": "slipway do", "COMP_CWORD": "1"}
    begin = f"import os, sys; os.environ |= {expected}; sys.argv[0] = 'slipway'"
    code = f"{begin}\nfrom slipway.main import main\nmain()"
    assert set(slipway(code=code).stdout.split()) == {"doctor", "download"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_a_script_of_each_shell_is_printed(shell: str) -> None:
    ran = slipway("completion", shell)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "_SLIPWAY_COMPLETE" in ran.stdout
    assert "\\n " not in ran.stdout


def test_bash_completes_by_the_printed_script(tmp_path: Path) -> None:
    command = tmp_path / "slipway"
    command.write_text(f"#!{sys.executable}\nfrom slipway.main import main\nmain()\n")
    command.chmod(0o755)
    question = 'COMP_WORDS=(slipway downl); COMP_CWORD=1; _slipway_completion slipway; echo "${COMPREPLY[@]}"'

    ran = subprocess.run(
        ["bash", "-c", f"{slipway('completion', 'bash').stdout}\n{question}"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout.split() == ["download"], ran.stderr


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    ran = slipway("version")

    assert ran.returncode == 0
    assert ran.stdout.startswith(f"slipway {project['version']} (Python 3.")


def test_a_failure_is_one_line_and_no_traceback() -> None:
    code = (
        "import slipway.main\n"
        "from slipway.failure import Failure\n"
        "@slipway.main.app.command()\n"
        "def break_down(): raise Failure('port 7071 is in use; stop what runs there')\n"
        "slipway.main.main()"
    )

    ran = slipway("break-down", code=code)

    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr == "slipway: port 7071 is in use; stop what runs there\n"


def test_a_ctrl_c_before_the_command_is_loaded_is_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from slipway.entry import main\n"
        "main()"
    )

    ran = slipway("jobs", code=code)

    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")


def test_the_exit_code_of_validate_reaches_the_shell(tmp_path: Path) -> None:
    ran = slipway("validate", str(tmp_path / "missing.json"))

    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr


def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "slipway.main", "version"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert ran.returncode == 1
    assert ran.stderr == "slipway: the output: No space left on device\n"


def test_a_terminal_without_our_letters_gets_all_the_others(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    ran = subprocess.run(
        [sys.executable, "-m", "slipway.main", "validate", str(tmp_path / "job.json")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )

    assert ran.returncode == 1
    assert "\\xb7 docs/rules/" in ran.stdout
    assert ran.stderr == ""


def test_the_command_takes_its_options_and_needs_no_network_and_no_sdk(tmp_path: Path) -> None:
    file = folder_with(tmp_path, BROKEN)
    code = (
        "import sys; sys.argv[1:] = ['validate', '--format', 'json', sys.argv[1]]\n"
        "from slipway.main import main\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = [name for name in sys.modules if name.startswith(('azure', 'aiohttp', 'asyncio', 'ssl'))]\n"
        "assert not heavy, heavy\n"
        "sys.exit(code)\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code, str(file)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 1, ran.stderr
    assert json.loads(ran.stdout)["valid"] is False


def test_commands_that_read_no_job_load_no_reader_of_jobs() -> None:
    modules = ("jobs.listing", "show", "dead", "nodes", "events")
    code = f"import sys, {', '.join(f'slipway.commands.{name}' for name in modules)}\nprint(*sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    # The defaults of the settings are limits of the format.
    light = {"shared.jobspec", "shared.jobspec.format", "shared.jobspec.format.limits"}
    heavy = ("shared.jobspec", "pydantic")
    assert [name for name in ran.stdout.split() if name.startswith(heavy) and name not in light] == []
