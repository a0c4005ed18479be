"""For all tests: connections to other machines fail, in every Python process."""

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

from tests import breadth, limits, memory

_TEMPORARY = memory.Folder()
_PLACE = Path(__file__).parent / "dialled"
_LOG = Path(tempfile.mkstemp(prefix="dialled-", suffix=".log")[1])
_STATE = tempfile.TemporaryDirectory(prefix="slipway-state-")


def pytest_addoption(parser: pytest.Parser) -> None:
    """By default, representatives of similar cases run, which is enough during development."""
    parser.addoption("--all", action="store_true", help="every case of every kind, and all examples")
    parser.addoption("--cases", type=int, metavar="NUMBER", help="at most so many cases of each test")
    parser.addoption("--every-fault", action="store_true", help="the same, and every fault at every call")
    limits.add_option(parser)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Show that cases are left out."""
    if config.getoption("all"):
        return None
    number = config.getoption("cases")
    tried = f"at most {number} cases of each test" if number else "one case of each kind"
    return f"breadth: {tried}; all of them with --all"


def pytest_configure(config: pytest.Config) -> None:
    """Set up this process and, through its environment, all child processes, before collection."""
    config.option.all |= config.option.every_fault
    limits.watch(config)
    only_some = config.option.cases is not None
    breadth.try_everything(config.option.all, every_fault=config.option.every_fault, only_some=only_some)
    # The time to draw random examples only shows how busy the machine is.
    settings.register_profile(
        "any machine",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=breadth.usual_examples(),
    )
    settings.load_profile("any machine")
    # A shell starts background processes with Ctrl-C ignored, and every child would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _use_this_python()
    # Imported modules and collected tests stay: they are never garbage, and scanning them takes long.
    gc.disable()
    # A check of IRIs that no schema here uses: its grammar alone takes over a second to load.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # makes the import fail
    # Ignore the profiles and stacks of the person who runs the tests.
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
    """Let child processes find this environment's programs, and keep the bytecode of their imports.

    A version manager's `python3` takes a second to find its Python, and the same modules are imported
    hundreds of times.
    """
    folder = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join(filter(None, (folder, os.environ.get("PATH"))))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # No test needs the public certificate authorities, and loading them takes time in each process.
    os.environ["SSL_CERT_FILE"] = os.devnull


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Schedule tests so that not every worker starts a stack."""
    if config.getoption("dist") != "loadscope":
        return None
    from tests.schedule import StackScheduling

    return StackScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests marked `thorough`, and with `--cases` all but so many cases of each test."""
    if config.getoption("all"):
        return
    usual = [item for item in items if not item.get_closest_marker("thorough")]
    number = config.getoption("cases")
    chosen = set(breadth.some_each(usual, _test, number) if number else usual)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def _test(item: pytest.Item) -> tuple[str, str]:
    """The module of a case, and its test."""
    module, _, rest = item.nodeid.partition("::")
    return module, rest.partition("[")[0]


def pytest_collection_finish() -> None:
    """From now on, garbage collection covers only objects that the tests create.

    It comes less often than usual: a test that keeps what it has parsed would pay for it each time.
    """
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove temporary files."""
    _LOG.unlink(missing_ok=True)
    _STATE.cleanup()
    _TEMPORARY.remove()


@pytest.fixture(autouse=True)
def no_other_machine_is_dialled() -> Iterator[None]:
    """Fail a test that dialled another machine; a server that outlives the test fails the next one."""
    yield
    if _LOG.stat().st_size:
        tried = _LOG.read_text(encoding="utf-8")
        _LOG.write_text("", encoding="utf-8")
        pytest.fail(f"dialled outside of this machine:\n{tried}")
