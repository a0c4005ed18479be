"""The parts of CI: which of them a change concerns, and which tests each one has.

`python3 -m tests.parts`: their names. `--since COMMIT`: those that what changed since then concerns, as JSON.
`--tests PART…`: what pytest takes for their tests, by default for those of all parts.
Standard library only, since nothing is installed yet.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Each part, and what is in it. `.ci/run` runs them in half an hour, or each alone.
PARTS = {
    "check": "make check",
    "unit": "the unit tests, and those of the source and of the documents",
    "app": "the app: processes, storage, webhooks, crashes, random documents",
    "engines": "what engines do on a cluster, and crashes in it",
    "local": "the emulators and hosts of the local stack, which are never deployed",
    "guides": "the commands of the guides, and recipes of job files",
    "journeys": "through the front door with all processes",
    "page": "the page in a browser",
    "slurm": "on a real Slurm, of two versions",
    "install": "clean environments of each Python",
    "oldest": "Python 3.11",
    "templates": "what Microsoft's programs say of infra/; only in the public workflow",
}
_ALL = tuple(PARTS)
#: For every change: most of these tests compare the source with what the documents say of it.
_ALWAYS = ("check", "unit")
_OF_APP = (*_ALWAYS, "app", "engines", "guides", "journeys", "page", "install", "oldest")

#: By the beginning of its path, the longest one: the part that runs a test.
TESTS = {
    "tests/unit": "unit",
    "tests/slow/project": "unit",
    "tests/slow/tooling": "unit",
    "tests/slow": "app",
    "tests/fuzz": "app",
    "tests/contract": "app",
    "tests/crash": "app",
    "tests/slow/engines": "engines",
    "tests/contract/kubernetes": "engines",
    "tests/contract/test_engine.py": "engines",
    "tests/contract/azurebatch": "engines",
    "tests/contract/emulator/test_waits.py": "engines",
    "tests/crash/batch": "engines",
    "tests/crash/kubernetes": "engines",
    "tests/crash/slurm": "engines",
    "tests/slow/local": "local",
    "tests/contract/emulator": "local",
    "tests/contract/host": "local",
    "tests/acceptance": "journeys",
    "tests/acceptance/commands": "guides",
    "tests/acceptance/pages": "guides",
    "tests/acceptance/templates": "guides",
    "tests/acceptance/hosts/test_readme.py": "guides",
    "tests/acceptance/hosts/test_walk.py": "guides",
    "tests/acceptance/python/test_client.py": "guides",
    "tests/acceptance/az": "guides",
    "tests/browser": "page",
    "tests/contract/slurm": "slurm",
    "tests/acceptance/slurm": "slurm",
}
#: Parts whose tests `make test` runs; the others have commands of their own.
BY_MAKE_TEST = ("unit", "app", "engines", "local", "guides", "journeys")


def _places(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/{name}" for name in names.split())


#: How many cases of a test `make test` runs: of the unit tests, and of the others.
OF_UNIT, OF_OTHERS = 3, 2
#: What `make test` runs beside the unit tests: each room of the app, and the command, at its own doors and
#: through the front door. One process runs each of these, and starts once what its tests share.
GROUPS_OF_MAKE_TEST = (
    (
        *_places("acceptance", "test_bad_input.py test_canaries.py test_dead.py test_doctor.py"),
        *_places("acceptance", "test_doors.py test_events.py test_explain.py test_nodes.py test_operate.py"),
        *_places("acceptance", "test_receipts.py test_run.py"),
    ),
    _places("contract", "test_engine.py"),
    (
        *_places("contract", "test_batchai_lists.py test_data.py test_drops.py test_entra.py test_ledger.py"),
        *_places("contract", "test_status.py test_storage_faults.py test_telemetry.py test_writes.py"),
        *_places("contract", "addresses azurebatch/test_store.py blobs sweeps table webhooks"),
    ),
    (
        *_places("contract/kubernetes", "test_given_up.py test_gone.py test_images.py test_jobs.py"),
        *_places("contract/kubernetes", "test_setup.py"),
        *_places("slow/engines/kubernetes", "test_closed.py test_code.py test_forget.py test_recorded.py"),
        *_places("slow/engines/kubernetes", "test_recorded_words.py test_replay.py test_start.py"),
        *_places("slow/engines", "kubernetes/test_ticks.py batch batchai test_closed_saved.py test_tar.py"),
        *_places("slow/engines/slurm", "test_asked.py test_claims.py test_displaced.py test_usage.py"),
    ),
    (
        *_places("slow/slipway", "test_compose.py test_doctor.py test_ignored_by_git.py test_init.py"),
        *_places("slow/slipway", "test_main.py test_stopped.py"),
        *_places("slow", "adapters admission confined connections core delivery intake lifecycle page"),
    ),
)
IN_MAKE_TEST = tuple(place for group in GROUPS_OF_MAKE_TEST for place in group)
#: What it leaves to `.ci/run`: the emulators and hosts of the local stack, the commands of the guides,
#: journeys with a stack of their own, other people's programs, and what reads the source or tries the tools.
ONLY_IN_CI = (
    *_places("acceptance", "az azurebatch commands entra hosts keys names own_code pages python setup"),
    *_places("acceptance", "templates test_chaos.py test_demo.py test_direct.py test_doctor_live.py"),
    *_places("acceptance", "test_download.py test_push.py test_up.py"),
    *_places("contract", "azurebatch emulator host kubernetes test_border.py test_durable_storage.py"),
    *_places("contract", "test_backup.py test_data_rm.py test_listing.py test_local_receiver.py"),
    *_places("slow", "engines/kubernetes/test_alone.py engines/slurm/test_code.py engines/test_packages.py"),
    *_places("slow", "engines/slurm/test_hostile_variables.py engines/slurm/test_time_to_save.py"),
    *_places("slow", "engines/slurm/test_hold.py engines/slurm/test_program.py"),
    *_places("slow", "examples infra local project slipway tooling"),
)

#: By the beginning of its path, the longest one: what a change concerns; any other path concerns all.
CONCERNS = {
    "docs/": (*_ALWAYS, "guides"),
    "docs/how-to/certificates-for-a-login-node.md": (*_ALWAYS, "guides", "slurm"),
    "README.md": (*_ALWAYS, "guides"),
    "CHANGELOG.md": _ALWAYS,
    "CODE_OF_CONDUCT.md": _ALWAYS,
    "CONTRIBUTING.md": _ALWAYS,
    "RELEASING.md": _ALWAYS,
    "SECURITY.md": _ALWAYS,
    "llms.txt": _ALWAYS,
    "action.yml": (*_ALWAYS, "guides"),
    "LICENSE": (*_ALWAYS, "install"),
    ".vscode/": _ALWAYS,
    ".devcontainer/": _ALWAYS,
    ".github/ISSUE_TEMPLATE/": _ALWAYS,
    ".github/workflows/azure-dev.yml": _ALWAYS,
    ".github/workflows/core-tools.yml": _ALWAYS,
    ".github/workflows/docs.yml": _ALWAYS,
    ".github/workflows/nightly.yml": _ALWAYS,
    ".github/workflows/release.yml": _ALWAYS,
    "web/": (*_ALWAYS, "app", "page"),
    "bench/": _ALWAYS,
    "bench/download.py": (*_ALWAYS, "journeys"),
    "infra/": (*_ALWAYS, "app", "local", "guides", "journeys", "templates"),
    "infra/slurm/": (*_ALWAYS, "slurm"),
    "azure.yaml": (*_ALWAYS, "app", "templates"),
    "function_app.py": _OF_APP,
    "functions/": _OF_APP,
    "shared/": _OF_APP,
    "shared/core/": (*_OF_APP, "slurm"),
    "shared/adapters/ssh_certificates.py": (*_OF_APP, "slurm"),
    "shared/lifecycle/": (*_OF_APP, "slurm"),
    "shared/engines/": (*_OF_APP, "local", "slurm"),
    "confined/": (*_OF_APP, "local", "slurm"),
    "slipway/": _OF_APP,
    "slipway/client/entry/": (*_OF_APP, "slurm"),
    "slipway/commands/preempt/": (*_OF_APP, "local"),
    "slipway/failure.py": (*_OF_APP, "local"),
    "local/site/": _ALWAYS,
    "local/bicep/": (*_ALWAYS, "app", "local"),
    "local/kubernetes/": (*_ALWAYS, "local", "engines"),
    "tests/mutants/": (*_ALWAYS, "oldest"),
    "tests/chaos/": (*_ALWAYS, "journeys"),
    **{place: (*_ALWAYS, part) for place, part in TESTS.items()},
    **{place: (*_ALWAYS, TESTS[place], "oldest") for place in ("tests/unit", "tests/slow", "tests/fuzz")},
}


def concerned(paths: Iterable[str]) -> list[str]:
    """The parts that a change of these files concerns; without any, all of them."""
    expected = {part for path in paths for part in CONCERNS.get(_longest(path, CONCERNS), _ALL)}
    return [part for part in PARTS if part in expected or not expected]


def part_of(path: str) -> str:
    """The part that runs a test; of none, the empty string."""
    return TESTS.get(_longest(path, TESTS), "")


def places_of(parts: Iterable[str]) -> list[str]:
    """What pytest takes: the places of these parts without those of other parts; unit tests come last."""
    chosen = set(parts).intersection(BY_MAKE_TEST)
    places = sorted(place for place, part in TESTS.items() if part in chosen)
    others = sorted(place for place, part in TESTS.items() if part not in chosen)
    tops = [place for place in places if not any(_is_in(place, top) for top in places)]
    apart = [other for other in others if any(_is_in(other, top) for top in tops)]
    return [*tops, *(f"--ignore={one}" for other in apart for one in _ignored(other, places))]


def changed(since: str) -> list[str]:
    """The files that changed since the branch left that commit; none where git does not know it."""
    argv = ["git", "diff", "--name-only", "--no-renames", "--merge-base", "-z", since, "HEAD"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    return [] if done.returncode else [path for path in done.stdout.split("\0") if path]


def _ignored(folder: str, places: Iterable[str]) -> list[str]:
    """What to ignore of a folder, but for these places: pytest takes nothing in a folder that it ignores."""
    inner = [place for place in places if _is_in(place, folder)]
    if not inner:
        return [folder]
    children = [f"{folder}/{child.name}" for child in sorted((ROOT / folder).iterdir())]
    tests = [child for child in children if "/test_" in child or any((ROOT / child).glob("**/test_*.py"))]
    return [one for child in tests if child not in inner for one in _ignored(child, inner)]


def _longest(path: str, table: Iterable[str]) -> str:
    places = [place for place in table if path == place or _is_in(path, place)]
    return max(places, key=len, default="")


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder + "/" * (not folder.endswith("/")))


def main(argv: list[str]) -> int:
    """Write what is asked for; 1 for a part that is not known."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.parts", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--since", metavar="COMMIT", help="the parts that what changed since then concerns, as JSON"
    )
    which.add_argument("--tests", action="store_true", help="what pytest takes for the tests of the parts")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"all of these by default: {', '.join(PARTS)}"
    )
    options = parser.parse_args(argv)
    if strange := [part for part in options.parts if part not in PARTS]:
        parser.error(f"{', '.join(strange)}: not a part; choose among {', '.join(PARTS)}")
    parts = options.parts or list(PARTS)
    if options.since is not None:
        sys.stdout.write(json.dumps(concerned(changed(options.since))) + "\n")
    else:
        sys.stdout.write(" ".join(places_of(parts) if options.tests else parts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
