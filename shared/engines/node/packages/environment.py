"""A Python environment of what a file lists, made at a place where it stays: environments cannot be moved."""

import importlib.util
import shlex
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Dict, List, Optional, Sequence

#: The file of an environment that is written last.
MARK = "slipway.made"
#: Settings by which pip would install elsewhere.
_ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
#: Runs pip without the modules of the directory in which it runs.
_PIP = "import runpy, sys; sys.path.pop(0); runpy.run_module('pip', run_name='__main__', alter_sys=True)"
_CONDA = ("micromamba", "mamba", "conda")
#: For a shell, and for an interpreter whose processes find the commands, too; pip installs here.
_ACTIVATE = 'export VIRTUAL_ENV={place} PATH={place}/bin:"$PATH"\nunset PYTHONHOME\n'
_PYTHON = '#!/bin/sh\n. {place}/activate\nexec {place}/bin/python "$@"\n'
_COMMAND = '#!/bin/sh\nexec {place}/bin/python {path} "$@"\n'
_OWN_PIP = '#!/bin/sh\nexec {place}/bin/python -m pip "$@"\n'


class Absent(Exception):
    """The node lacks what the file needs; the text names the remedy."""


class Environment:
    """The environment at a place; commands run in the folder of the file, as at home."""

    def __init__(self, place: Path, file: Path, values: Dict[str, str]) -> None:
        self._place, self._file = place, file
        self._env = {name: value for name, value in values.items() if name not in _ELSEWHERE}
        self._env.update(PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
        # In the cache of a home are what other jobs put or built there, of other teams, too.
        for name in ("PIP_NO_CACHE_DIR", "UV_NO_CACHE"):
            self._env.setdefault(name, "1")
        self._env.setdefault("CONDA_PKGS_DIRS", f"{place}.packages")
        self._uv = shutil.which("uv")

    def make(self, options: Sequence[str] = ()) -> None:
        """Make it, of what the file lists. Raises Absent, CalledProcessError and OSError.

        With `options` of pip it is tried: what pip says of a failure is not shown.
        """
        self._clear()
        if self._file.name == "uv.lock":
            self._sync()
        elif self._file.suffix in (".yml", ".yaml"):
            self._run([*self._conda(), "--prefix", str(self._place), "--file", self._file.name])
        else:
            self._begin()
            listed = _listed(self._file)
            if listed:
                self._install([*options, *listed], is_tried=bool(options))
        self._finish()

    def make_above(self, base: Path) -> None:
        """Make an empty one above another: what its job installs is its own. Raises as `make`."""
        self._clear()
        self._begin(base)
        self._finish()
        for path in (base / "bin").iterdir():
            if not (self._place / "bin" / path.name).exists():
                self._adopt(path, str(base / "bin" / "python"))

    def _adopt(self, path: Path, interpreter: str) -> None:
        """Have a command of the one below; one in Python is run by the own interpreter, and sees all."""
        with path.open("rb") as file:
            first, second = file.readline(), file.readline()
        is_python = interpreter.encode() in first or second.startswith(b"'''exec'")
        if not is_python:
            (self._place / "bin" / path.name).symlink_to(path)
            return
        words = {"place": shlex.quote(str(self._place)), "path": shlex.quote(str(path))}
        self._program(f"bin/{path.name}", _COMMAND.format(**words))

    def _clear(self) -> None:
        """Remove what a run that was ended in the middle has left."""
        if self._place.exists():
            shutil.rmtree(str(self._place))

    def _begin(self, base: Optional[Path] = None) -> None:
        """Begin with one that has what the interpreter has, and the one that it is above."""
        if _has("venv") and (_has("pip") or _has("ensurepip")):
            bare = ["--without-pip"] if _has("pip") else []  # it is one of the packages that the node has
            words = ["-I", "-m", "venv", "--system-site-packages", *bare, str(self._place)]
            self._run([sys.executable, *words])
        elif self._uv:
            words = ["--quiet", "--system-site-packages", "--python", sys.executable]
            self._run([self._uv, "venv", *words, str(self._place)])
        else:
            raise Absent(f"{sys.executable} has no venv with pip, and there is no uv beside it")
        inherited = [self._packages(base)] if base else []
        if sys.prefix != sys.base_prefix:  # an environment itself, whose packages a new one would not have
            inherited += [sysconfig.get_path(name) for name in ("purelib", "platlib")]
            with suppress(OSError):
                shutil.copy(f"{sys.prefix}/pip.conf", str(self._place / "pip.conf"))
        if inherited:
            lines = [f"import site; site.addsitedir({path!r})\n" for path in dict.fromkeys(inherited)]
            Path(self._packages(self._place), "_inherited.pth").write_text("".join(lines))

    @staticmethod
    def _packages(place: Path) -> str:
        """The directory of the packages of an environment."""
        program = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
        output = subprocess.check_output([str(place / "bin" / "python"), "-I", "-c", program])
        return output.decode()

    def _install(self, words: List[str], is_tried: bool = False) -> None:
        python = str(self._place / "bin" / "python")
        if _has("pip") or _has("ensurepip"):
            self._run([python, "-c", _PIP, "install", *words], is_tried)
        else:
            self._run([str(self._uv), "pip", "install", "--python", python, *words], is_tried)

    def _sync(self) -> None:
        """Install exactly what uv has locked."""
        if not self._uv:
            raise Absent("uv.lock needs uv, and there is none: uv export -o requirements.txt needs none")
        self._run([self._uv, "venv", "--quiet", "--system-site-packages", str(self._place)])
        self._env["UV_PROJECT_ENVIRONMENT"] = str(self._place)
        self._run([self._uv, "sync", "--frozen"])

    def _conda(self) -> List[str]:
        program = next(filter(None, map(shutil.which, _CONDA)), None)
        if program is None:
            remedy = "list the packages in requirements.txt, or leave it out by .slipwayignore"
            text = f"{self._file.name} needs conda, and there is none: {remedy}"
            raise Absent(text)
        return [program, "create", "--yes"] if "micro" in program else [program, "env", "create"]

    def _finish(self) -> None:
        words = {"place": shlex.quote(str(self._place))}
        (self._place / "activate").write_text(_ACTIVATE.format(**words))
        self._program("python", _PYTHON.format(**words))
        if not (self._place / "bin" / "pip").exists():
            self._program("bin/pip", _OWN_PIP.format(**words))
        (self._place / MARK).write_text("")

    def _program(self, name: str, text: str) -> None:
        path = self._place / name
        path.write_text(text)
        path.chmod(0o755)

    def _run(self, argv: List[str], is_tried: bool = False) -> None:
        errors = subprocess.DEVNULL if is_tried else None
        subprocess.run(argv, check=True, cwd=str(self._file.parent), env=self._env, stderr=errors)


def _listed(file: Path) -> List[str]:
    """What pip gets for a file: its name, or what the project of a pyproject.toml depends on."""
    if file.name != "pyproject.toml":
        return ["-r", file.name]
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        raise Absent("pyproject.toml needs Python 3.11: list the packages in requirements.txt") from None
    return list(tomllib.loads(file.read_text(encoding="utf-8")).get("project", {}).get("dependencies", ()))


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
