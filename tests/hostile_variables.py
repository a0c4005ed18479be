"""Variables of a job that would break a program of ours, if one started with them."""

from __future__ import annotations

import re
from pathlib import Path

from shared.engines.launch import alone
from shared.engines.launch import plan as launch
from shared.engines.launch.shells import CLEANUP, KEEP, RANKED, SETUP, USAGE
from shared.engines.launch.site import Scheduler, Site
from shared.engines.launch.variables import system

#: By their names; FOLDER stands for one that `prepare` has made.
FOREIGN = {
    "PATH": "FOLDER/bin",
    "PYTHONPATH": "FOLDER",
    "PYTHONHOME": "FOLDER/absent",
    "PYTHONWARNINGS": "error",
    "PYTHONSTARTUP": "FOLDER/json.py",
    "LD_LIBRARY_PATH": "FOLDER/lib",
    "LD_PRELOAD": "FOLDER/lib/canary.so",
    "BASH_ENV": "FOLDER/evil.sh",
    "ENV": "FOLDER/evil.sh",
    "TMPDIR": "FOLDER/absent",
    "HOME": "FOLDER/absent",
    "LANG": "xx_XX.KOI8-R",
    "LC_ALL": "xx_XX.KOI8-R",
    "http_proxy": "http://127.0.0.1:9/canary",
    "https_proxy": "http://127.0.0.1:9/canary",
    "HTTP_PROXY": "http://127.0.0.1:9/canary",
    "IFS": "/",
    "POSIXLY_CORRECT": "1",
    "UID": "7",
    "BASH": "FOLDER/absent",
    "OMPI_MCA_plm_rsh_agent": "FOLDER/evil.sh",
    "slipway_index": "0",
}
#: Those that a shell sets anew, or does not change.
UNHEARD = ("IFS", "UID", "BASH", "slipway_index")


def prepare(folder: Path) -> Path:
    """A folder with what the variables lead to: programs, modules and libraries that do not work."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "json.py").write_text("raise SystemExit('canary of json')\n")
    (folder / "sitecustomize.py").write_text("raise SystemExit('canary of site')\n")
    (folder / "evil.sh").write_text("echo canary of a shell >&2; exit 9\n")
    (folder / "lib/libm.so.6").write_text("canary")
    (folder / "lib/libz.so.1").write_text("canary")
    for name in ("python3", "srun", "mkdir", "rm", "date", "sleep", "setsid"):
        (folder / "bin" / name).write_text("#!/bin/sh\necho canary of a program >&2; exit 9\n")
        (folder / "bin" / name).chmod(0o755)
    return folder


def ours() -> dict[str, str]:
    """Every name that Slipway's programs set or read, as their source has them, with another value."""
    site = Site(Scheduler((), (), (), "", "", lambda _: ()), "", "", "", "", "", "", 0)
    source = launch.script() + launch.keeping() + launch.bringing() + alone.script() + alone.placing()
    source += SETUP + CLEANUP + USAGE + KEEP + RANKED
    names = {
        *re.findall(r"\b(?:SLIPWAY|AZ_BATCHAI)_[A-Z0-9_]*[A-Z]\b", source),
        *system(site),
        "SLIPWAY_CODE",
    }
    # Engines refuse those that begin so.
    return {name: "/canary/elsewhere" for name in sorted(names) if not name.startswith("AZ_BATCH_")}


def variables(names: dict[str, str], folder: Path) -> list[dict[str, str]]:
    """The list of a document."""
    return [{"name": name, "value": value.replace("FOLDER", str(folder))} for name, value in names.items()]
