"""The import contracts: complete, kept where no linter looks, and broken by what they forbid."""

import ast
import configparser
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

from shared import jobspec

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("confined", "shared", "functions", "local", "slipway")
SOURCE = (*PACKAGES, "bench", "examples")
CONTRACTS = configparser.ConfigParser()
CONTRACTS.read_string((ROOT / ".importlinter").read_text())

#: So many are found at a glance; where there are more, they belong into sub-folders.
MOST_MODULES = 20

#: So many lines of a file of the source, and of a function in any file, are read in one go.
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 300, 50
#: The same for a function of the source behind its parameters, which in a command are a table of options.
MOST_LINES_OF_A_BODY = 40
#: Most files stay below so many lines: where two nouns are in one, each gets a file of its own.
USUAL_LINES, MOST_LONG_FILES = 250, 9

#: For each contract lines that must not be written, and the files where someone might write them.
VIOLATIONS: tuple[tuple[str, str, str], ...] = (
    ("parts", "shared/core/job.py", "import local.process"),
    ("rooms", "shared/core/job.py", "import shared.lifecycle.sweeper"),
    ("rooms", "shared/setting_table/values.py", "from shared.settings import Settings"),
    ("floors", "slipway/commands/show.py", "from slipway.stack.provision import Plan"),
    ("floors", "shared/jobspec/checks/echoes.py", "from shared.jobspec.reader.repair import mended"),
    ("floors", "shared/core/notify/events.py", "from shared.core.ledger.listing import Page"),
    ("floors", "shared/engines/slurm/cluster.py", "from shared.engines.slurm.job.check import check"),
    ("floors", "local/host/worker/pool.py", "import local.host.triggers.queue"),
    ("floors", "local/azurebatch/state/database.py", "import local.azurebatch.api.wire"),
    ("floors", "local/nodes/run.py", "import local.batchai.state.models"),
    ("floors", "shared/lifecycle/transition.py", "from shared.lifecycle.dispatch import dispatch"),
    ("floors", "functions/process.py", "import functions.sweeper"),
    ("command-line", "slipway/client/jobs/watch.py", "from slipway.commands.asking import show"),
    ("command-line", "slipway/library/job.py", "from slipway.commands.asking import show"),
    ("client", "slipway/client/calls/wire.py", "from slipway.client.jobs.watch import ENDED"),
    ("wiring", "functions/sweeper.py", "from shared.engines import batchai"),
    ("engines", "shared/engines/slurm/engine.py", "from shared.engines.batchai.facts import view_of"),
    ("settings", "shared/settings.py", "from shared.engines.slurm.configure import configure"),
    ("settings", "shared/engines/registry.py", "from shared.engines.batchai.configure import configure"),
    ("no-sdk", "shared/lifecycle/sweeper.py", "import shared.adapters.sealing"),
    ("no-sdk", "shared/setting_table/values.py", "import azure.identity"),
    ("pure", "shared/jobspec/checks/validate.py", "import socket"),
    ("local", "local/batchai/api/wire.py", "from shared.jobspec import JobSpec"),
    ("local-parts", "local/host/host.py", "import local.batchai.api.wire"),
)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All that a file consists of."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Those of a file, wherever in it; expressions hold none."""
    is_source = path.relative_to(ROOT).parts[0] in PACKAGES
    inner: list[ast.AST] = [nodes(path)[0] if is_source else ast.parse(path.read_text())]
    while inner:
        node = inner.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        for member in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner += getattr(node, member, ())


def imports(path: Path) -> Iterator[str]:
    """The full names that a file imports, wherever in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def deployed() -> list[Path]:
    """The files that are deployed to Azure."""
    folders = [(ROOT / name).rglob("*.py") for name in ("confined", "functions", "shared")]
    return [ROOT / "function_app.py", *chain(*folders)]


def test_every_contract_has_a_violation_that_is_tried() -> None:
    sections = {name.rpartition(":")[2] for name in CONTRACTS.sections() if ":contract:" in name}

    assert sections == {contract for contract, _, _ in VIOLATIONS}


def test_only_the_composition_root_reads_the_environment() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for path in deployed()
        for node in nodes(path)
        if isinstance(node, ast.Attribute | ast.alias)
        and (node.attr if isinstance(node, ast.Attribute) else node.name) in {"environ", "getenv", "environb"}
    }

    # A binding is fixed when the app is indexed, before there is an event; what is sent to the nodes of a
    # cluster runs in their environment.
    assert readers == {
        "shared/wiring.py",
        "functions/bindings.py",
        "functions/process.py",
        "shared/engines/node/agent.py",
        "shared/engines/node/code.py",
        "shared/engines/node/forget.py",
        "shared/engines/node/keep.py",
        "shared/engines/node/packages/install.py",
        "shared/engines/node/private.py",
        "shared/engines/node/run.py",
        "shared/engines/node/saved/program.py",
        "shared/engines/node/spread.py",
        "shared/engines/node/volumes.py",
    }


def test_only_the_composition_root_of_the_app_names_adapters() -> None:
    namers = {
        path.relative_to(ROOT).as_posix()
        for path in deployed()
        if "adapters" not in path.parts
        if any(f"{name}.".startswith("shared.adapters.") for name in imports(path))
    }

    assert namers == {"shared/wiring.py"}


def test_every_room_says_what_comes_in_and_what_goes_out() -> None:
    silent = {
        path.parent.relative_to(ROOT).as_posix()
        for top in PACKAGES
        for path in (ROOT / top).rglob("__init__.py")
        if not re.search(r"In: .*Out:\s", ast.get_docstring(ast.parse(path.read_text())) or "", re.S)
    }

    assert silent == set()


def test_no_room_of_the_app_loads_all_of_itself_where_one_module_is_imported() -> None:
    """A face would: a cold start loads modules, not rooms. The job file is read as a whole anyway."""
    faces = {
        path.parent.relative_to(ROOT).as_posix()
        for top in ("shared", "functions")
        for path in (ROOT / top).rglob("__init__.py")
        if any(name.startswith(("shared.", "functions.")) for name in imports(path))
    }

    assert faces == {"shared/jobspec", "shared/jobspec/checks/rules", "shared/setting_table"}


def test_other_rooms_take_the_job_file_by_its_face() -> None:
    """A name of the face, or a module that stands beside it; what lies deeper may move."""
    doors = {f"shared.jobspec.{name}" for name in (*jobspec.__all__, "report", "schema")}
    others = [ROOT / "function_app.py", *chain(*((ROOT / top).rglob("*.py") for top in SOURCE))]
    uses = {
        name: path.relative_to(ROOT).as_posix()
        for path in others
        if not path.is_relative_to(ROOT / "shared/jobspec")
        for name in imports(path)
        if name.startswith("shared.jobspec.")
    }

    assert {path: name for name, path in uses.items() if name not in doors} == {}
    assert len(uses) > 40


def modules() -> dict[str, Path]:
    """Every module of the source by its full name."""
    paths = chain(*((ROOT / top).rglob("*.py") for top in (*PACKAGES, "bench")))
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def circle(arrows: Mapping[str, set[str]]) -> list[str]:
    """One circle of a graph; empty where there is none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_and_no_folders_import_each_other_in_a_circle() -> None:
    """Also where only types are imported: who reads one of two such files has to read the other."""
    paths = modules()
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, path in paths.items():
        for name in imports(path):
            target = name if name in paths else name.rpartition(".")[0]
            if target in paths and target != module:
                arrows["modules"][module].add(target)
                ours, theirs = module.split("."), target.split(".")
                same = next((at for at, (a, b) in enumerate(zip(ours, theirs)) if a != b), None)  # noqa: B905
                if same is not None:
                    arrows[".".join(ours[:same])][ours[same]].add(theirs[same])
    circles = {room: way for room, graph in arrows.items() if (way := circle(graph))}

    assert circles == {}


def test_only_the_triggers_know_the_functions_library() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in deployed()
        if any(f"{name}.".startswith("azure.functions.") for name in imports(path))
    }

    assert {name.partition("/")[0] for name in users} <= {"function_app.py", "functions"}


def test_no_module_that_works_without_a_clone_imports_the_local_stack() -> None:
    importing = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "slipway").rglob("*.py")
        if ROOT / "slipway" / "stack" not in file.parents
        for name in imports(file)
        if name.partition(".")[0] in {"local", "functions", "tests", "bench"}
    }

    assert importing == {"slipway/commands/clone.py"}


def test_no_folder_holds_more_modules_than_are_seen_at_a_glance() -> None:
    of_python = chain(*((ROOT / top).rglob("*.py") for top in (*PACKAGES, "bench", "tests")))
    of_the_page = [path for path in (ROOT / "web/src").rglob("*") if path.suffix in {".ts", ".tsx"}]
    folders = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in [*of_python, *of_the_page]
        if path.name != "__init__.py"
    )

    assert len(of_the_page) > 50
    assert {folder: many for folder, many in folders.items() if many > MOST_MODULES} == {}


def test_no_file_of_the_source_is_longer_than_is_read_in_one_go() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for path in [ROOT / "function_app.py", *chain(*((ROOT / top).rglob("*.py") for top in SOURCE))]
    }

    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}
    long = sorted(path for path, lines in lengths.items() if lines > USUAL_LINES)
    assert len(long) <= MOST_LONG_FILES, long


def test_no_function_is_longer_than_is_read_in_one_go() -> None:
    long = [
        f"{path.relative_to(ROOT).as_posix()}: {node.name}"
        for top in (*SOURCE, "tests")
        for path in (ROOT / top).rglob("*.py")
        for node in functions(path)
        if lines_from(node, node) > MOST_LINES_OF_A_FUNCTION
        or (top in SOURCE and lines_from(node, node.body[0]) > MOST_LINES_OF_A_BODY)
    ]

    assert long == []


def lines_from(function: ast.FunctionDef | ast.AsyncFunctionDef, start: ast.stmt) -> int:
    """How many lines of a function there are from one of its statements on."""
    return (function.end_lineno or 0) - start.lineno + 1


def changes_later(node: ast.stmt) -> bool:
    """Whether a statement of a module is a name for what is filled later, or for a lock."""
    if isinstance(node, ast.Global):
        return True
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Dict | ast.List):
        return not ast.unparse(value).strip("[]{}")
    makers = {"dict", "list", "set", "defaultdict", "deque", "Counter", "OrderedDict", "Lock", "Semaphore"}
    called = ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.Call) and not value.args and (called in makers or called.startswith("Weak"))


def test_no_use_case_and_no_adapter_keeps_state_in_its_module() -> None:
    """What lasts longer than a call belongs to the ports, so that two deployments may share a process."""
    keepers = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "shared").rglob("*.py")
        if "node" not in path.parts  # a program of its own
        for tree, *inner in [nodes(path)]
        for node in [*getattr(tree, "body", ()), *(one for one in inner if isinstance(one, ast.Global))]
        if isinstance(node, ast.stmt) and changes_later(node)
    }

    assert keepers == set()


def test_no_module_takes_the_private_names_of_another() -> None:
    takers = {
        f"{path.relative_to(ROOT).as_posix()}: {alias.name}"
        for top in PACKAGES
        for path in (ROOT / top).rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    }

    assert takers == set()


def alternatives(annotation: ast.expr) -> Iterator[set[str]]:
    """What a value of this annotation may be, wherever in it unions stand; None does not count."""
    inner: set[ast.expr] = set()
    for node in ast.walk(annotation):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and node not in inner:
            members, result = [node.left, node.right], set()
            while members:
                member = members.pop()
                inner.add(member)
                if isinstance(member, ast.BinOp):
                    members += [member.left, member.right]
                else:
                    result.add(ast.unparse(member).partition("[")[0])
            yield result - {"None"}


#: Where a change to another state names one that is not an end; `follow` asks for ends above it.
NO_ENDS = {
    "shared/lifecycle/dispatch.py: JobState.SUBMITTING",
    "shared/lifecycle/observe.py: JobState.ACCEPTED",
    "shared/lifecycle/observe.py: observation.state",
}


def test_every_end_of_a_job_is_made_in_one_module() -> None:
    moves = {
        f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(node.args[2])}"
        for path in (ROOT / "shared").rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "move"
    }
    ends = {"JobState.FAILED", "JobState.CANCELLED", "JobState.LOST", "observation.state"}

    assert moves == NO_ENDS | {f"shared/lifecycle/ends.py: {state}" for state in ends}


#: Two of one kind are a range.
RANGES = {"int", "float", "datetime"}
#: Functions whose result is compared, and never looked into.
COMPARED = {
    "shared/jobspec/reader/source.py: _order",
    "shared/jobspec/problems/problem.py: place",
    "slipway/client/jobs/curves.py: _order",
    "slipway/stack/demo.py: telling",
}


def is_unnamed(annotation: ast.expr) -> bool:
    """Whether a result is a tuple of several things that only their order tells apart."""
    if isinstance(annotation, ast.BinOp):
        return is_unnamed(annotation.left) or is_unnamed(annotation.right)
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value).lower() != "tuple":
        return False
    parts = [ast.unparse(one) for one in getattr(annotation.slice, "elts", [annotation.slice])]
    is_range = len(parts) == 2 and parts[0] == parts[1] and parts[0] in RANGES
    return parts[-1] != "..." and not is_range


@pytest.mark.parametrize(
    ("annotation", "result"),
    [
        ("tuple[Job, Stored | None]", True),
        ("tuple[str, str] | None", True),
        ("tuple[Pause | None]", True),
        ("tuple[int, int] | None", False),
        ("tuple[Problem, ...]", False),
        ("Validation", False),
    ],
)
def test_a_result_whose_parts_have_no_names_is_found(annotation: str, result: bool) -> None:
    assert is_unnamed(ast.parse(annotation, mode="eval").body) == result


def test_the_parts_of_a_result_have_names() -> None:
    unnamed = {
        f"{path.relative_to(ROOT).as_posix()}: {node.name}"
        for path in [*deployed(), *(ROOT / "slipway").rglob("*.py"), *(ROOT / "local").rglob("*.py")]
        if "node" not in path.parts  # a program of its own, for old Pythons
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None
        if is_unnamed(node.returns)
    }

    assert unnamed == COMPARED


def test_a_result_is_one_type_and_no_text_or_tuple_stands_for_another() -> None:
    """What did not come about is a field of the result, or an exception."""
    told_apart = {
        f"{path.relative_to(ROOT).as_posix()}: {node.name}"
        for path in [*deployed(), *(ROOT / "slipway").rglob("*.py")]
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None
        for types in alternatives(node.returns)
        if len(types) > 1 and types & {"str", "bytes", "tuple", "Problem"}
    }

    assert told_apart == set()
