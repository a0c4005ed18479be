"""What enters a job becomes a process like the job's own, by Python and by a shell alone."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipway.client.entry.ports import listener
from slipway.client.entry.program import NOTHING, entering
from slipway.client.entry.relay import relaying, serve

#: What the shell alone needs on a node.
TOOLS = ("sh", "bash", "tr", "grep", "sed", "cat", "env", "sleep")
JOB = f"j_{os.getpid():024d}"
#: Values that mean something to a shell.
OWN = {
    "SLIPWAY_JOB_ID": JOB,
    "SLIPWAY_ATTEMPT": "1",
    "QUOTES": """it's "so" `x` $(touch x) \\ $HOME""",
    "LINES": "first\nPATH=second\n",
    "BLANK": "",
    "UTF8": "grün",
    "HF_TOKEN": "of the job",
    # A shell does not let these be set, or uses them itself.
    "UID": "5",
    "BASH_VERSINFO": "x",
    "slipway_term": "of the job",
}
#: What the node's own programs have, as in a pod.
OF_NODE = {"SLIPWAY_SECRET_0": "HF_TOKEN=of the job", "SLIPWAY_TOKEN": f"{JOB}.1", "OTHER": "of the pod\nX=1"}


#: What a shell keeps for itself, and what bash adds.
OF_SHELL, BY_BASH = {"UID", "BASH_VERSINFO"}, {b"SHLVL", b"_"}


@pytest.fixture(params=["python", "shell", "bash"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The variables of a node, with Python or without, and with a bash as its shell."""
    if request.param == "python":
        return {"PATH": os.environ["PATH"], **OF_NODE}
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))
    return {"PATH": str(tools), **OF_NODE, **({"SH": "bash"} if request.param == "bash" else {})}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Path]:
    """The directory of a job with two ranks, below a launcher that has its token alone."""
    directory = tmp_path / "wd of the job"
    directory.mkdir()
    path = {"PATH": os.environ["PATH"]}
    launcher = subprocess.Popen(["sleep", "600"], env={**path, **OF_NODE}, cwd="/")
    main = subprocess.Popen(["sleep", "600"], env={**path, **OWN}, cwd=directory)
    (directory / "second").mkdir()
    ranked = {**path, **OWN, "AZ_BATCHAI_TASK_INDEX": "1"}
    second = subprocess.Popen(["sleep", "600"], env=ranked, cwd=directory / "second")
    try:
        yield directory
    finally:
        for process in (launcher, main, second):
            process.kill()
            process.wait()


def is_python(node: dict[str, str]) -> bool:
    return node["PATH"] == os.environ["PATH"]


def entered(
    node: dict[str, str], *words: str, attempt: int = 1, rank: int = 0, term: str = "", data: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    argv = entering(JOB, attempt, rank, words, term=term)
    argv[:1] = ["bash", "--posix"] if "SH" in node else ["/bin/sh"]
    return subprocess.run(argv, env=node, input=data, capture_output=True, check=False, cwd="/")


def test_it_has_the_variables_of_the_job_byte_by_byte_and_none_of_what_is_around(
    job: Path, node: dict[str, str]
) -> None:
    answer = entered(node, "env", "-0", term="xterm-256color")

    its_own = dict(one.split(b"=", 1) for one in answer.stdout.rstrip(b"\0").split(b"\0"))
    assert answer.stderr == b""
    variables = {name: value for name, value in OWN.items() if is_python(node) or name not in OF_SHELL}
    assert {name: value for name, value in its_own.items() if name not in BY_BASH} == {
        **{name.encode(): value.encode() for name, value in variables.items()},
        b"PATH": os.environ["PATH"].encode(),
        b"PWD": str(job).encode(),
        b"TERM": b"xterm-256color",
        b"SLIPWAY_ENTERED": b"1",
    }


def test_it_is_in_the_directory_of_the_job_and_passes_bytes_and_the_exit_code(
    job: Path, node: dict[str, str]
) -> None:
    data = bytes(range(256)) * 10

    copied = entered(node, "cat", data=data)
    failed = entered(node, "sh", "-c", "pwd -P; exit 113")

    assert (copied.stdout, copied.returncode) == (data, 0)
    assert (failed.stdout.decode().strip(), failed.returncode) == (str(job), 113)


def test_the_process_of_a_rank_is_chosen_and_otherwise_the_first_one(job: Path, node: dict[str, str]) -> None:
    assert entered(node, "sh", "-c", "pwd -P", rank=1).stdout.decode().strip() == str(job / "second")
    assert entered(node, "sh", "-c", "pwd -P", rank=7).stdout.decode().strip() == str(job)


def test_a_word_that_is_no_program_ends_as_in_a_shell(job: Path, node: dict[str, str]) -> None:
    unknown, file = entered(node, "no-such-program"), entered(node, str(job))

    assert (unknown.returncode, file.returncode) == (127, 126)
    assert b"no-such-program" in unknown.stderr


def test_without_a_process_of_the_attempt_it_says_so(job: Path, node: dict[str, str]) -> None:
    answer = entered(node, "true", attempt=11)

    assert answer.returncode == NOTHING
    assert answer.stderr.decode().startswith(f"slipway: no process of attempt 11 of {JOB} runs here")


def test_what_was_entered_is_not_taken_for_the_job(tmp_path: Path, node: dict[str, str]) -> None:
    env = {**node, **OWN, "SLIPWAY_ENTERED": "1"}
    with subprocess.Popen(["sleep", "600"], env={**env, "PATH": os.environ["PATH"]}) as shell:
        answer = entered(node, "true")
        shell.kill()

    assert answer.returncode == NOTHING


def test_a_job_whose_directory_is_gone_is_entered_and_that_is_said(job: Path, node: dict[str, str]) -> None:
    shutil.rmtree(job)

    answer = entered(node, "sh", "-c", "echo $HF_TOKEN; exit 4")

    assert (answer.stdout, answer.returncode) == (b"of the job\n", 4)
    assert answer.stderr == b"slipway: the directory of the job is gone, this is /\n"


def test_a_variable_without_a_name_is_left_out(tmp_path: Path, node: dict[str, str]) -> None:
    names = [b"=x", *(f"{name}={value}".encode() for name, value in OWN.items())]
    script = (
        "import ctypes\n"
        f"names = {names!r}\n"
        "words, env = (ctypes.c_char_p * 3)(b'sleep', b'600'), (ctypes.c_char_p * (len(names) + 1))(*names)\n"
        f"ctypes.CDLL(None).execve({str(shutil.which('sleep')).encode()!r}, words, env)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path) as process:
        while not Path(f"/proc/{process.pid}/environ").read_bytes().startswith(b"=x\0"):
            assert process.poll() is None
        answer = entered(node, "sh", "-c", "echo $HF_TOKEN")
        process.kill()

    assert (answer.stdout, answer.stderr, answer.returncode) == (b"of the job\n", b"", 0)


def test_an_empty_word_is_no_program(job: Path, node: dict[str, str]) -> None:
    answer = entered(node, "")

    assert answer.returncode in (126, 127)
    assert b"Traceback" not in answer.stderr


def test_a_process_that_came_later_from_elsewhere_is_not_taken_for_a_rank(
    job: Path, node: dict[str, str]
) -> None:
    marks = f"SLIPWAY_JOB_ID={JOB} SLIPWAY_ATTEMPT=1 PMI_RANK=7 HF_TOKEN=planted"
    with subprocess.Popen(["sh", "-c", f"{marks} sleep 600 & echo; wait"], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        answer = entered(node, "sh", "-c", "echo $HF_TOKEN", rank=7)
        subprocess.run(["pkill", "-P", str(other.pid)], check=False)

    assert answer.stdout == b"of the job\n"


#: Below a program of a Slurm job, which says its number as Slurm's own does.
_STEP = """exec -a "slurmstepd: [$0.batch]" bash -c '"$@" & echo $!; wait' bash "$@\""""


@contextmanager
def step(number: int, words: Sequence[str], user: str = "root", **env: str) -> Iterator[None]:
    """A process of a Slurm job, for the length of the block."""
    argv = ["bash", "-c", _STEP, str(number), *words]
    path = {"PATH": os.environ["PATH"], **env}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=path, user=user, cwd="/") as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            yield
        finally:
            os.kill(child, signal.SIGKILL)
            process.wait()


@pytest.mark.skipif(os.getuid() != 0, reason="Slurm's own programs run as root")
def test_where_slurm_starts_it_a_process_that_came_before_the_job_from_elsewhere_is_not_taken_for_it(
    node: dict[str, str],
) -> None:
    """Any job of the same user can leave one behind; on a node without cgroups it looks like the job's."""
    sleep = [str(shutil.which("sleep")), "600"]
    planted = {**OWN, "HF_TOKEN": "planted", "SLIPWAY_RANK": "0"}
    words = entering(JOB, 1, 0, ["sh", "-c", "echo $HF_TOKEN"])
    words[:1] = ["bash", "--posix"] if "SH" in node else ["/bin/sh"]
    inside = [
        "bash",
        "-c",
        _STEP.replace("batch", "0"),
        "77",
        "env",
        "-i",
        *(f"{n}={v}" for n, v in node.items()),
    ]
    with (
        step(78, sleep, **planted),
        step(77, sleep, "nobody", **planted),  # says so, and is not Slurm's
        subprocess.Popen(sleep, env={**node, **planted}) as alone,
        step(77, sleep, **OWN),
    ):
        answer = subprocess.run([*inside, *words], capture_output=True, check=False, cwd="/")
        alone.kill()

    assert answer.stdout.splitlines()[-1] == b"of the job", answer.stderr


def test_where_the_environment_is_the_jobs_already_it_stays(tmp_path: Path, node: dict[str, str]) -> None:
    answer = entered({**node, **OWN, "HF_TOKEN": "of this node"}, "sh", "-c", "echo $HF_TOKEN; pwd")

    assert (answer.stdout, answer.returncode) == (b"of this node\n/\n", 0)


def test_the_programs_of_a_job_meet_a_closed_pipe_as_usual(job: Path, node: dict[str, str]) -> None:
    answer = entered(node, "sh", "-c", "kill -PIPE $$; exit 0")

    assert answer.returncode == -signal.SIGPIPE


def test_without_words_it_is_a_shell(job: Path, node: dict[str, str]) -> None:
    assert entered(node, data=b"echo $QUOTES; exit 3\n").returncode == 3


async def test_a_relay_passes_bytes_both_ways_and_ends_with_the_other_side(node: dict[str, str]) -> None:
    data = os.urandom(3 << 20)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readexactly(len(data)))[::-1])
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    words = ["env", "-i", f"PATH={node['PATH']}", *relaying(server.sockets[0].getsockname()[1])]
    own = listener(17_000)
    async with server, serve(own, words):
        reader, writer = await asyncio.open_connection(*own.getsockname())
        writer.write(data)
        assert await reader.read() == data[::-1]
        writer.close()


async def test_a_port_at_which_nothing_listens_ends_its_connection(node: dict[str, str]) -> None:
    with listener(18_000) as closed:
        port = closed.getsockname()[1]
    own = listener(17_000)
    async with serve(own, ["env", "-i", f"PATH={node['PATH']}", *relaying(port)]):
        reader, writer = await asyncio.open_connection(*own.getsockname())
        assert await reader.read() == b""
        writer.close()
