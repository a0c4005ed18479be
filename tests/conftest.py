"""For every test: a connection to another machine fails, in every Python process of the tests."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import breadth

_PLACE = Path(__file__).parent / "dialled"
_LOG = Path(tempfile.mkstemp(prefix="dialled-", suffix=".log")[1])
_STATE = tempfile.TemporaryDirectory(prefix="slipway-state-")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Representatives of what is alike are enough while one works."""
    parser.addoption("--all", action="store_true", help="every case of every kind, and all examples")
    parser.addoption("--every-fault", action="store_true", help="the same, and every fault at every call")


def pytest_report_header(config: pytest.Config) -> str | None:
    """What is left out is said."""
    return None if config.getoption("all") else "breadth: one case of each kind; all of them with --all"


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is collected: this process, and by its environment all that it starts."""
    config.option.all |= config.option.every_fault
    breadth.try_everything(config.option.all, every_fault=config.option.every_fault)
    # How long random examples take to draw says how busy the machine is.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")
    # A shell starts what runs in its background without Ctrl-C, and every child would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _use_this_python()
    # What is imported and collected stays: nothing of it is garbage, and there is much to look at.
    gc.disable()
    # A check of the format of IRIs, which no schema here asks for: its grammar alone takes over a second.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # what cannot be imported
    # The profiles and the stacks of the person who runs the tests do not count.
    os.environ["XDG_CONFIG_HOME"] = str(_PLACE / "none")
    os.environ["XDG_STATE_HOME"] = _STATE.name
    os.environ["DIALLED_LOG"] = str(_LOG)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_PLACE), os.environ.get("PYTHONPATH"))))
    sys.modules.pop("sitecustomize", None)
    sys.path.insert(0, str(_PLACE))
    try:
        importlib.import_module("sitecustomize")
    finally:
        sys.path.remove(str(_PLACE))


def _use_this_python() -> None:
    """What the tests start finds the programs of this environment, and keeps the bytecode of what it imports.

    A version manager's `python3` takes a second to find the Python that it starts; and the same modules are
    imported hundreds of times.
    """
    folder = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join(filter(None, (folder, os.environ.get("PATH"))))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Nothing is dialled that a public authority vouches for; to read them all takes each process its time.
    os.environ["SSL_CERT_FILE"] = os.devnull


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers do not start a stack each."""
    if config.getoption("dist") != "loadscope":
        return None
    from tests.schedule import StackScheduling

    return StackScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `thorough`, and have pytest count it as deselected."""
    if not config.getoption("all"):
        thorough = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=thorough)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def pytest_collection_finish() -> None:
    """From here on, the collector of garbage looks only at what the tests themselves make."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    _LOG.unlink(missing_ok=True)
    _STATE.cleanup()


@pytest.fixture(autouse=True)
def no_other_machine_is_dialled() -> Iterator[None]:
    """Fail the test in which something was dialled; a server that outlives it fails the next one."""
    yield
    if _LOG.stat().st_size:
        tried = _LOG.read_text(encoding="utf-8")
        _LOG.write_text("", encoding="utf-8")
        pytest.fail(f"dialled outside of this machine:\n{tried}")
