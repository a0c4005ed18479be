"""`slipway_packages` of a preparation, run as the nodes run it, with packages that need no index."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shared.engines.launch.packages import PROGRAM, with_packages
from shared.engines.launch.programs import joined
from shared.engines.node.packages.environment import MARK
from shared.engines.node.packages.install import SETTINGS
from shared.engines.node.packages.reuse import MOST
from tests.doubles.packages import project, sdist, wheel

_SYSTEM = "/usr/bin:/bin"
#: A command, and its module.
TINY = "def main():\n    print('tiny here')\n"
_SHOW = "import sys, tiny; print('module', sys.prefix)"


class Node:
    """A node whose interpreter is that of a directory of programs; each job has a folder of its own."""

    def __init__(self, root: Path, programs: Path) -> None:
        self.root, self.programs = root, programs
        self.wheels = root / "wheels"
        self.wheels.mkdir()
        wheel(self.wheels, "tiny", TINY)

    def job(self, name: str, **files: str) -> Job:
        job = Job(self, self.root / name)
        job.write(**files)
        return job

    def index(self) -> Path:
        """An index of the wheels that are there now."""
        for file in self.wheels.glob("*.whl"):
            page = self.root / "index" / file.name.split("-")[0] / "index.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            names = sorted(one.name for one in self.wheels.glob(f"{page.parent.name}-*.whl"))
            page.write_text("".join(f'<a href="../../wheels/{one}">{one}</a>' for one in names))
        return self.root / "index"

    def lists(self, text: str) -> str:
        """A list of packages that pip takes from the wheels."""
        return f"--no-index\n{text}\n"


class Job:
    """The folder of a job, with its directory on the node above it."""

    def __init__(self, node: Node, temporary: Path) -> None:
        self.node, self.temporary, self.work = node, temporary, temporary / "wd"
        self.work.mkdir(parents=True)
        self.settings: Mapping[str, object] = {}
        self.variables: Mapping[str, str] = {"PIP_FIND_LINKS": str(node.wheels)}

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.work / name.replace("__", ".")).write_text(text)

    def prepare(self, file: str = "requirements.txt") -> subprocess.CompletedProcess[str]:
        return self._bash(with_packages(f'slipway_packages "./{file}"'))

    def shell(self, line: str) -> str:
        """What a shell script prints, run as `slipway run` has it."""
        return self._printed(f'. "$AZ_BATCHAI_JOB_TEMP/environment/activate" && {line}')

    def python(self, program: str) -> str:
        self.write(train__py=program)
        return self._printed('"$AZ_BATCHAI_JOB_TEMP/environment/python" train.py')

    def _printed(self, line: str) -> str:
        process = self._bash(line)
        assert process.returncode == 0, process.stderr
        return process.stdout

    def _bash(self, line: str) -> subprocess.CompletedProcess[str]:
        return self.run(["bash", "-c", line])

    def run(self, argv: list[str]) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.node.programs}:{_SYSTEM}",
            "HOME": str(self.node.root),
            "AZ_BATCHAI_JOB_TEMP": str(self.temporary),
            **({SETTINGS: json.dumps(self.settings)} if self.settings else {}),
            **self.variables,
        }
        return subprocess.run(
            argv,
            check=False,
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of an environment of its own: what starts with the packages of the tests could change them."""
    place = tmp_path_factory.mktemp("image")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    (place / "bin/uv").symlink_to(Path(sys.executable).parent / "uv")
    return place / "bin"


@pytest.fixture
def node(tmp_path: Path, programs: Path) -> Node:
    return Node(tmp_path, programs)


def succeeded(process: subprocess.CompletedProcess[str]) -> str:
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_a_list_says_what_it_says_at_home(node: Node) -> None:
    wheel(node.wheels, "other", version="1.0")
    wheel(node.wheels, "other", version="2.0")
    lists = {"base__txt": "tiny\n", "limits__txt": "other<2\n"}
    job = node.job(
        "j", requirements__txt="-r base.txt\n-c limits.txt\n./local\n-e ./edited\nother\n", **lists
    )
    project(job.work / "local", "local_one", "V = 7\n")
    project(job.work / "edited", "edited_one", "V = 1\n")
    job.variables = {**job.variables, "PIP_NO_INDEX": "1"}

    printed = succeeded(job.prepare())

    assert "The packages of requirements.txt were installed: " in printed
    assert job.shell("tiny && python -c 'import tiny'") == "tiny here\n"
    (job.work / "edited" / "edited_one.py").write_text("V = 2\n")
    text = (
        "import subprocess, importlib.metadata as m, local_one, edited_one\n"
        "print(local_one.V, edited_one.V, m.version('other'), flush=True)\n"
        "subprocess.run(['tiny'], check=True)"
    )
    assert job.python(text) == "7 2 1.0\ntiny here\n"


def test_what_an_image_has_counts_and_is_not_installed_again(tmp_path: Path) -> None:
    image = tmp_path / "image"
    subprocess.run([sys.executable, "-m", "venv", str(image)], check=True)
    node = Node(tmp_path, image / "bin")
    subprocess.run(
        [image / "bin/pip", "install", "-q", "--no-index", node.wheels / "tiny-1.0-py3-none-any.whl"],
        check=True,
    )
    shutil.rmtree(node.wheels)
    job = node.job("j", requirements__txt=node.lists("tiny"))

    printed = succeeded(job.prepare())

    assert "Requirement already satisfied: tiny" in printed
    assert job.python(_SHOW) == f"module {job.temporary}/environment\n"
    assert job.shell("tiny") == "tiny here\n"


#: Hides what makes environments with pip, as some systems leave it out.
_WITHOUT_PIP = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name in ("pip", "ensurepip"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Without())
"""


@pytest.mark.parametrize("has_uv", [True, False])
def test_where_python_has_no_pip_uv_installs(tmp_path: Path, *, has_uv: bool) -> None:
    image = tmp_path / "image"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(image)], check=True)
    (packages,) = image.glob("lib/python*/site-packages")
    (packages / "sitecustomize.py").write_text(_WITHOUT_PIP)
    if has_uv:
        (image / "bin/uv").symlink_to(Path(sys.executable).parent / "uv")
    job = Node(tmp_path, image / "bin").job("j", requirements__txt="tiny\n")
    job.variables = {"UV_FIND_LINKS": str(job.node.wheels), "UV_OFFLINE": "1", "UV_NO_INDEX": "1"}

    process = job.prepare()

    if has_uv:
        succeeded(process)
        assert job.shell("tiny") == "tiny here\n"
    else:
        assert "has no venv with pip, and there is no uv beside it" in process.stderr


def test_files_of_the_folder_are_not_the_modules_of_what_prepares_it(node: Node) -> None:
    broken = dict.fromkeys(("json__py", "pip__py", "venv__py", "time__py"), "raise SystemExit('broken')")
    job = node.job("j", requirements__txt=node.lists("tiny"), **broken)
    job.variables = {**job.variables, "PIP_USER": "1", "PIP_TARGET": str(node.root / "elsewhere")}

    succeeded(job.prepare())

    assert job.shell("tiny") == "tiny here\n"


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        (
            "requirements.txt",
            "--no-index\nabsent-one\n",
            f"could not be installed for Python {sys.version_info[0]}.{sys.version_info[1]}",
        ),
        ("uv.lock", "version = 1\n", "uv export -o requirements.txt"),
        ("environment.yml", "dependencies: [numpy]\n", "environment.yml needs conda"),
    ],
)
def test_what_cannot_be_installed_ends_with_its_remedy(
    tmp_path: Path, file: str, text: str, reason: str
) -> None:
    (programs := tmp_path / "programs").mkdir()
    (programs / "python").symlink_to(Path(sys.base_prefix, "bin", Path(sys.executable).resolve().name))
    job = Node(tmp_path, programs).job("j", **{file.replace(".", "__"): text})

    process = job.prepare(file)

    assert process.returncode == 1
    assert reason in process.stderr
    assert f"the packages of {file} could not be installed" in process.stderr
    assert "slipway run --image NAME" in process.stderr
    assert ("another Python" in process.stderr) is (file == "requirements.txt")


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_an_image_without_python_is_named(tmp_path: Path, shell: str) -> None:
    job = Node(tmp_path, tmp_path / "none").job("j", requirements__txt="tiny\n")
    line = with_packages("slipway_packages requirements.txt && echo on").replace(
        "python python3", "no-python"
    )

    process = subprocess.run(
        [shell, "-c", line], check=False, cwd=job.work, capture_output=True, text=True, timeout=60
    )

    assert (process.returncode, process.stdout) == (1, "")
    assert "need Python, which is not in the image" in process.stderr


def test_the_dependencies_of_a_project_are_installed(node: Node) -> None:
    job = node.job("j", pyproject__toml='[project]\nname = "x"\nversion = "1"\ndependencies = ["tiny"]\n')
    job.variables = {**job.variables, "PIP_NO_INDEX": "1"}

    succeeded(job.prepare("pyproject.toml"))

    assert job.shell("tiny") == "tiny here\n"


def test_what_uv_has_locked_is_installed(node: Node) -> None:
    project_ = '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["tiny"]\n'
    job = node.job("j", pyproject__toml=project_)
    job.variables = {"UV_FIND_LINKS": str(node.wheels), "UV_OFFLINE": "1", "UV_NO_INDEX": "1"}
    uv = {**job.variables, "PATH": os.environ["PATH"], "HOME": str(node.root)}
    subprocess.run([node.programs / "uv", "lock", "--quiet"], check=True, cwd=job.work, env=uv)

    succeeded(job.prepare("uv.lock"))

    assert job.shell("tiny") == "tiny here\n"


class Shelf:
    """Jobs of a team on a node that keeps environments."""

    def __init__(self, node: Node) -> None:
        self.node, self.directory = node, node.root / "kept" / "team"

    def job(self, name: str, text: str = "tiny", **files: str) -> Job:
        job = self.node.job(name, requirements__txt=f"{text}\n", **files)
        job.settings = {"keep": str(self.directory), "seconds": 60}
        job.variables = {"PIP_INDEX_URL": self.node.index().as_uri(), "PIP_CONFIG_FILE": os.devnull}
        return job

    @property
    def all(self) -> list[Path]:
        return sorted(path.parent for path in self.directory.glob(f"*/{MARK}"))


@pytest.fixture
def shelf(node: Node) -> Shelf:
    return Shelf(node)


def test_an_environment_is_made_once_and_used_by_later_jobs(shelf: Shelf) -> None:
    assert "were installed, and are kept" in succeeded(shelf.job("first").prepare())
    second = shelf.job("second")
    second.variables = {**second.variables, "HOME": str(second.temporary)}

    assert "were kept" in succeeded(second.prepare())

    assert second.python(_SHOW) == f"module {second.temporary}/environment\n"
    assert second.shell("tiny") == "tiny here\n"
    assert len(shelf.all) == 1


def test_what_a_job_installs_itself_is_its_own(shelf: Shelf) -> None:
    wheel(shelf.node.wheels, "later")
    first, second = shelf.job("first"), shelf.job("second")
    succeeded(first.prepare())

    assert first.variables == second.variables
    first.shell("pip install later && python -m pip uninstall -y later && pip install later")
    succeeded(second.prepare())

    assert first.python("import later, tiny") == ""
    with pytest.raises(AssertionError, match="No module named 'later'"):
        second.python("import later")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"text": "tiny"}, {"text": "tiny==1.0"}),
        ({"text": "-r a.txt", "a__txt": "tiny"}, {"text": "-r a.txt", "a__txt": "tiny>=1"}),
        ({"text": "-c a.txt\ntiny", "a__txt": "tiny<3"}, {"text": "-c a.txt\ntiny", "a__txt": "tiny<4"}),
    ],
)
def test_what_a_list_and_those_that_it_names_say_makes_another(
    shelf: Shelf, before: dict[str, str], after: dict[str, str]
) -> None:
    for number, files in enumerate((before, before, after)):
        assert "kept" in succeeded(shelf.job(f"{number}", **files).prepare())

    assert len(shelf.all) == 2


@pytest.mark.parametrize(
    "line",
    [
        "./local",
        "-e ./local",
        "-e./local",
        "-e local",
        "local/",
        "--editable=./local",
        "local_one @ file://${PWD}/local",
    ],
)
def test_what_only_one_job_has_is_kept_for_no_other(shelf: Shelf, line: str) -> None:
    job = shelf.job("j", f"tiny\n{line}")
    project(job.work / "local", "local_one", "V = 7\n")

    assert "were installed: " in succeeded(job.prepare())

    assert job.python("import local_one, tiny; print(local_one.V)") == "7\n"
    assert shelf.all == []


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff-r base.txt",
        "--no-index --find-links wheels\ntiny",
        "--find-links=wheels --no-index\ntiny",
        "--pre -r base.txt",
        "tiny\n--no-index -c base.txt",
        "./tiny-1.0-py3-none-any.whl",
        "tiny-1.0-py3-none-any.whl",
    ],
)
def test_what_a_line_says_anywhere_counts(shelf: Shelf, text: str) -> None:
    wheel(shelf.node.wheels, "tiny", "V = '1.0'", "1.0")
    wheel(shelf.node.wheels, "tiny", "V = '2.0'", "2.0")
    values = []
    for version in ("1.0", "2.0"):
        job = shelf.job(version, text, base__txt=f"tiny=={version}\n")
        (job.work / "wheels").mkdir()
        wheel(job.work / "wheels", "tiny", f"V = '{version}'", version)
        wheel(job.work, "tiny", f"V = '{version}'", "1.0")
        job.variables = (
            {**job.variables, "PIP_FIND_LINKS": str(shelf.node.wheels)} if "-c" in text else job.variables
        )
        succeeded(job.prepare())
        values.append(job.python("import tiny; print(tiny.V)"))

    assert values == ["1.0\n", "2.0\n"]


def test_what_is_built_is_kept_for_no_other(shelf: Shelf) -> None:
    sdist(shelf.node.root / "index", "built", "FLAGS")
    values = []
    for flags in ("off", "on"):
        job = shelf.job(flags, "built")
        job.variables = {**job.variables, "FLAGS": flags}
        assert "were installed: " in succeeded(job.prepare())
        values.append(job.python("import built; print(built.FLAGS)"))

    assert values == ["off\n", "on\n"]


@pytest.mark.parametrize("variable", ["PIP_CONSTRAINT", "PIP_FIND_LINKS"])
def test_files_that_a_variable_names_count(shelf: Shelf, variable: str) -> None:
    job = shelf.job("j", limits__txt="tiny==1.0\n")
    job.variables = {**job.variables, variable: "limits.txt" if "LINKS" not in variable else "."}

    assert "were installed: " in succeeded(job.prepare())

    assert shelf.all == []


def test_commands_of_kept_packages_see_what_the_job_installs(shelf: Shelf) -> None:
    wheel(shelf.node.wheels, "later")
    text = "def main():\n    import later, sys\n    print('sees', sys.argv[1:])\n"
    wheel(shelf.node.wheels, "runner", text)
    for name in ("first", "second"):
        job = shelf.job(name, "runner")
        assert "kept" in succeeded(job.prepare())

        assert job.shell("pip install -q later && runner --a 'b c'") == "sees ['--a', 'b c']\n"


def test_nodes_that_share_the_directory_of_a_job_build_what_is_in_its_folder_once(node: Node) -> None:
    job = node.job("j", requirements__txt="./local\n")
    project(job.work / "local", "local_one", "V = 7\n")
    job.variables = {**job.variables, "PIP_NO_INDEX": "1"}

    with ThreadPoolExecutor() as threads:
        printed = [succeeded(one) for one in threads.map(lambda _: job.prepare(), range(3))]

    assert sorted("were installed" in one for one in printed) == [False, False, True]
    assert sorted("are there" in one for one in printed) == [False, True, True]
    assert job.python("import local_one; print(local_one.V)") == "7\n"


def test_jobs_that_begin_at_once_make_it_once(shelf: Shelf) -> None:
    jobs = [shelf.job(f"{number}") for number in range(3)]

    with ThreadPoolExecutor() as threads:
        printed = [succeeded(one) for one in threads.map(Job.prepare, jobs)]

    assert sorted("were kept" in one for one in printed) == [False, True, True]
    assert [job.shell("tiny") for job in jobs] == ["tiny here\n"] * 3
    assert len(shelf.all) == 1


def test_a_directory_that_others_can_write_is_not_used(shelf: Shelf) -> None:
    shelf.directory.mkdir(parents=True)
    shelf.directory.chmod(0o777)

    assert "were installed: " in succeeded(shelf.job("j").prepare())

    assert shelf.all == []


def test_a_disk_that_is_nearly_full_keeps_no_other(shelf: Shelf) -> None:
    job = shelf.job("j")
    program = joined(*PROGRAM).replace("MOST, SPARE = 16, 0.1", "MOST, SPARE = 16, 1.0")

    process = job.run([str(shelf.node.programs / "python"), "-I", "-c", program, "requirements.txt"])

    assert "were installed: " in succeeded(process)
    assert shelf.all == []


def test_one_that_was_cut_off_is_made_again(shelf: Shelf) -> None:
    succeeded(shelf.job("first").prepare())
    (cut,) = shelf.all
    (cut / MARK).unlink()
    shutil.rmtree(cut / "bin")
    second = shelf.job("second")

    assert "were installed, and are kept" in succeeded(second.prepare())

    assert second.shell("tiny") == "tiny here\n"


def test_only_so_many_are_kept_and_none_that_a_job_uses_goes(shelf: Shelf) -> None:
    shelf.directory.mkdir(parents=True, mode=0o700)
    for number in range(MOST):
        (other := shelf.directory / f"other-{number}").mkdir()
        (other / MARK).write_text("")
        until = time.time() + 3600 + number
        os.utime(other / MARK, (until, until))

    assert "were installed: " in succeeded(shelf.job("full").prepare())
    for number in (3, 5):
        os.utime(shelf.directory / f"other-{number}" / MARK, (10 + number, 10 + number))
    assert "were installed, and are kept" in succeeded(shelf.job("free").prepare())

    assert len(shelf.all) == MOST
    assert not [one for one in shelf.directory.iterdir() if one.name.startswith("other-3")]
    assert (shelf.directory / "other-5").exists()
    assert len(list(shelf.directory.glob("*.lock"))) == 1, "none of what is gone"


def test_the_index_of_the_cluster_is_asked_unless_the_job_names_its_own(node: Node) -> None:
    for name in ("cluster", "own"):
        page = node.root / name / "tiny"
        page.mkdir(parents=True)
        version = "3.0" if name == "own" else "2.0"
        file = wheel(page, "tiny", TINY, version)
        (page / "index.html").write_text(f'<a href="{file.name}">{file.name}</a>')
    own = {"PIP_INDEX_URL": (node.root / "own").as_uri()}
    versions = []
    for name, variables in (("theirs", {}), ("its", own)):
        job = node.job(name, requirements__txt="tiny\n")
        job.settings = {"index": (node.root / "cluster").as_uri()}
        job.variables = {"PIP_CONFIG_FILE": os.devnull, **variables}
        succeeded(job.prepare())
        versions.append(job.python("import importlib.metadata as m; print(m.version('tiny'))"))

    assert versions == ["2.0\n", "3.0\n"]


class _Proxy(http.server.BaseHTTPRequestHandler):
    """Answers for an index that only a proxy can reach, with one wheel."""

    file: Path

    def do_GET(self) -> None:
        page = f'<a href="/{self.file.name}">{self.file.name}</a>'.encode()
        is_known = self.path.startswith("http://packages.invalid/")
        body = self.file.read_bytes() if self.path.endswith(".whl") else page
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""


def test_packages_come_through_the_proxy_of_the_cluster(node: Node) -> None:
    handler = type("Proxy", (_Proxy,), {"file": node.wheels / "tiny-1.0-py3-none-any.whl"})
    job = node.job("j", requirements__txt="tiny\n")
    job.variables = {"PIP_CONFIG_FILE": os.devnull, "PIP_TRUSTED_HOST": "packages.invalid"}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        job.settings = {"index": "http://packages.invalid/simple", "proxy": address}

        process = job.prepare()

        server.shutdown()
    succeeded(process)
    assert job.shell("tiny") == "tiny here\n"
