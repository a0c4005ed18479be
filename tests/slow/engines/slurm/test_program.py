"""The program of the nodes, run for real, with a scheduler that has this machine only."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

import pytest

from shared.core.engine import Earlier, Order
from shared.core.job import Reason, Target
from shared.engines.launch import plan as launch
from shared.engines.launch.shells import CLEANUP, KEEP, SETUP, USAGE
from shared.engines.launch.site import Scheduler, Site, Spread
from shared.engines.node.files import PRIVATE
from shared.engines.proofs import Proofs
from shared.engines.recorded import CODES
from tests.hostile.unproven import PROOFS

_EVERYWHERE = Path(__file__).with_name("everywhere.py")
_PATH = "/usr/local/bin:/usr/bin:/bin"


def _spread(spread: Spread) -> tuple[str, ...]:
    numbers = (str(spread.nodes), str(spread.tasks), str(spread.first))
    return (sys.executable, str(_EVERYWHERE), *numbers)


class Program(NamedTuple):
    """A command, and all of its environment."""

    command: list[str]
    env: dict[str, str]


@dataclass
class Nodes:
    """A file system that all nodes share, and runs of the program on it."""

    ENGINE: ClassVar = "slurm"

    root: Path
    nodes: int = 1
    proofs: Proofs = PROOFS
    #: the words before the program's own
    before: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        hosts = "\n".join(f"node{number}" for number in range(self.nodes))
        scheduler = Scheduler(("echo", hosts), ("true",), ("JOB", "RESTARTS"), "NODE", "RANK", _spread)
        self.site = Site(
            scheduler=scheduler,
            segment="jobs/n",
            records=str(self.root / "records"),
            temporary=str(self.root / "temporary"),
            output=str(self.root / "{JOB}.out"),
            mount_root=str(self.root / "mnt"),
            path=_PATH,
            gpus=0,
            grace=1,
        )

    def run(self, *, once: str = "s1", token: str = "t.1", **properties: Any) -> int:
        process = self.start(once=once, token=token, **properties)
        _, errors = process.communicate(timeout=60)
        assert errors == b""
        return process.returncode

    def second(self, reason: str = "infrastructure", **properties: Any) -> subprocess.Popen[bytes]:
        """The next attempt; `reason`: why the ledger has it that the first one ended."""
        self.site = replace(self.site, records=str(self.root / "second"))
        first = Target(engine="slurm", cluster="c", experiment="e", name="records", token="t.1")
        earlier = (Earlier(first, reason),)
        return self.start(job="8", once="s2", token="t.2", earlier=earlier, **properties)

    def start(
        self,
        *,
        job: str = "7",
        restarts: str = "0",
        once: str = "s1",
        token: str = "t.1",
        earlier: tuple[Earlier, ...] = (),
        output: IO[bytes] | int = subprocess.PIPE,
        hold: timedelta = timedelta(),
        **properties: Any,
    ) -> subprocess.Popen[bytes]:
        document = {
            "nodeCount": self.nodes,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            **properties,
        }
        target = Target(engine=self.ENGINE, cluster="c", experiment="e", name="n", token=token)
        order = self.proofs.with_keys(Order(target, {"properties": document}, earlier, hold=hold))
        process = self.program(order, once, job, restarts)
        command = [*self.before, *process.command]
        return subprocess.Popen(command, env=process.env, stdout=output, stderr=output)

    def program(self, order: Order, once: str, job: str, restarts: str) -> Program:
        """What a node runs."""
        env = launch.environment(self.site, order, once)
        # The patience of a real cluster would be this test's.
        text = launch.script().replace("WATCH = 5.0", "WATCH = 0.2")
        program = self.root.parent / f"{self.root.name}.program.py"
        program.write_text(text)
        return Program([sys.executable, str(program)], {**env, "JOB": job, "RESTARTS": restarts})

    def record(self, run: str = "7-0") -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.root / "records" / run / "result.json").read_text())
        return document

    def output(self, name: str, run: str = "7-0") -> str:
        return (self.root / "mnt/logs/jobs/n" / run / "stdouterr" / name).read_text()

    def until(self, path: str) -> None:
        end = time.monotonic() + 120
        while not (self.root / path).exists():
            assert time.monotonic() < end, f"no {path}"
            time.sleep(0.02)


@pytest.fixture
def node(tmp_path: Path) -> Nodes:
    return Nodes(tmp_path)


@pytest.fixture
def two(tmp_path: Path) -> Nodes:
    return Nodes(tmp_path, nodes=2)


def custom(command: str) -> dict[str, Any]:
    return {"customToolkitSettings": {"commandLine": command}}


def test_a_command_runs_in_its_directory_with_the_documented_environment(node: Nodes) -> None:
    command = 'pwd; echo "$AZ_BATCHAI_OUTPUT_M"; echo "$W"; echo "$P" >&2; touch $AZ_BATCHAI_OUTPUT_M/m'
    code = node.run(
        **custom(command),
        outputDirectories=[{"id": "M", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "a/b"}],
        environmentVariables=[{"name": "W", "value": "${AZ_BATCHAI_JOB_TEMP}/x $UNKNOWN"}],
        secrets=[{"name": "P", "value": "$HOME 'it"}],
    )

    logs = node.root / "mnt/logs/jobs/n/7-0"
    work = f"{node.root}/temporary/7-0"
    assert code == 0
    assert node.output("stdout.txt").splitlines() == [
        f"{work}/wd",
        f"{logs}/outputs/a/b",
        f"{work}/x $UNKNOWN",
    ]
    assert node.output("stderr.txt") == "$HOME 'it\n"
    assert (logs / "outputs/a/b/m").exists()
    assert not Path(work).exists()


def test_the_record_says_how_it_ended_and_where_the_output_is(node: Nodes) -> None:
    assert node.run(**custom("exit 3")) == 3

    record = node.record()
    assert (record["state"], record["final"], record["reason"], record["exitCode"]) == (
        "ended",
        True,
        "user",
        3,
    )
    assert record["directories"]["stdouterr"].endswith("/mnt/logs/jobs/n/7-0/stdouterr")
    assert "Job failed with non-zero exit code" in node.output("execution.log")


def test_a_killed_command_has_the_code_of_a_shell(node: Nodes) -> None:
    assert node.run(**custom("kill -9 $$")) == 128 + 9


def test_mounts_appear_below_the_mount_root_of_the_job(node: Nodes) -> None:
    (node.root / "share").mkdir()
    (node.root / "share/data").write_text("hello")
    node.site = replace(node.site, links=(("deep/share", str(node.root / "share")),))

    assert node.run(**custom("cat $AZ_BATCHAI_JOB_MOUNT_ROOT/deep/share/data")) == 0

    assert node.output("stdout.txt") == "hello"
    assert (node.root / "share/data").exists(), "what is mounted outlives the job"


def test_output_below_a_mount_of_the_job_gets_there_and_is_found_by_the_record(node: Nodes) -> None:
    share = node.root / "share"
    share.mkdir()
    node.site = replace(node.site, links=(("deep/share", str(share)),))
    where = "$AZ_BATCHAI_JOB_MOUNT_ROOT/deep/share"

    code = node.run(
        **custom("echo hello; touch $AZ_BATCHAI_OUTPUT_M/m"),
        stdOutErrPathPrefix=where,
        outputDirectories=[{"id": "M", "pathPrefix": f"{where}/models"}],
    )

    assert code == 0
    assert (share / "jobs/n/7-0/stdouterr/stdout.txt").read_text() == "hello\n"
    assert (share / "models/jobs/n/7-0/outputs/m").exists()
    assert node.record()["directories"] == {
        "stdouterr": f"{share}/jobs/n/7-0/stdouterr",
        "M": f"{share}/models/jobs/n/7-0/outputs",
    }


def test_records_and_logs_are_the_users_alone_and_output_is_as_the_job_made_it(node: Nodes) -> None:
    before = os.umask(0o022)
    try:
        node.run(
            **custom("echo out; umask > $AZ_BATCHAI_OUTPUT_M/umask; stat -c %a $AZ_BATCHAI_JOB_TEMP"),
            outputDirectories=[{"id": "M", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}],
        )
    finally:
        os.umask(before)
    run, records = node.root / "mnt/logs/jobs/n/7-0", node.root / "records"
    modes = {
        str(path.relative_to(node.root)): path.stat().st_mode & 0o777
        for path in (run, run / "stdouterr", run / "outputs", run / "outputs/umask")
    }

    assert list(modes.values()) == [0o755, 0o700, 0o755, 0o644]
    assert [path.stat().st_mode & 0o777 for path in (records, records / "7-0")] == [0o700, 0o700]
    remaining = [records / "claim.json", records / "7-0/result.json"]
    assert [path.stat().st_mode & 0o777 for path in remaining] == [0o600, 0o600]
    assert (run / "outputs/umask").read_text() == "0022\n"
    assert node.output("stdout.txt") == "out\n700\n"


def test_what_the_program_itself_prints_into_the_schedulers_file_is_the_users_alone(node: Nodes) -> None:
    file = node.root / "7.out"
    file.write_text("before it")  # an empty one is taken away at the end
    file.chmod(0o644)
    with file.open("ab") as out:
        node.start(**custom("true"), output=out).wait(60)

    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives directories away")
@pytest.mark.parametrize("level", ["temporary", "temporary/7-0"])
def test_a_directory_of_the_node_that_another_user_put_there_is_not_used(node: Nodes, level: str) -> None:
    (node.root / level).mkdir(parents=True)
    os.chown(node.root / level, 1234, 1234)

    assert node.run(**custom("true")) == 250

    assert f"{node.root}/{level} on {os.uname().nodename} belongs to another user" in node.output(
        "execution.log"
    )


@pytest.mark.parametrize("list_of", ["environmentVariables", "secrets"])
def test_no_variable_of_the_job_takes_the_place_of_one_of_ours(node: Nodes, list_of: str) -> None:
    """By them, directories are removed: this run's, and those of runs that are over."""
    other = node.root / "temporary/8-0"
    other.mkdir(parents=True, mode=0o700)
    Path(f"{other}.until").write_text(str(int(time.time()) + 3600))
    chosen = {"SLIPWAY_TEMP": str(other), "SLIPWAY_OVER": str(int(time.time()) + 86_400)}

    properties: dict[str, Any] = {list_of: [{"name": name, "value": value} for name, value in chosen.items()]}
    code = node.run(**custom("test $SLIPWAY_RUN = 7-0"), **properties)

    assert code == 0
    assert other.exists()


def test_a_directory_that_the_node_does_not_have_is_no_fault_of_the_job(node: Nodes) -> None:
    node.site = replace(node.site, links=(("share", "/no/such"),))

    assert node.run(**custom("true")) == 250

    assert (node.record()["reason"], node.record()["exitCode"]) == ("infrastructure", None)
    assert "There is no directory /no/such on" in node.output("execution.log")
    assert "A node could not be made ready: There is no directory /no/such on" in node.record()["message"]


def test_the_reason_of_a_node_that_could_not_be_made_ready_is_one_line_without_secrets(node: Nodes) -> None:
    secret = "/no/canary-" + "x" * 1000
    node.site = replace(node.site, links=(("share", f"{secret}/{'y' * 1000}"),))

    assert node.run(**custom("true"), secrets=[{"name": "TOKEN", "value": secret}]) == 250

    message = node.record()["message"]
    assert message.startswith("A node could not be made ready: There is no directory ***/yyy")
    assert "canary" not in message
    assert len(message) < 500


def test_a_full_disk_is_named_where_nothing_can_be_recorded(node: Nodes) -> None:
    unshare, sh, true = (shutil.which(name) or name for name in ("unshare", "sh", "true"))
    apart = [unshare, "--map-root-user", "--mount"]
    if subprocess.run([*apart, true], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here (unshare --mount)")
    records = node.root / "records"
    records.mkdir()
    mount = f'PATH={_PATH} mount -t tmpfs -o size=4k none "$0"'
    fill = f'{mount} && PATH={_PATH} head -c 4096 /dev/zero >"$0/other" && exec "$@"'
    node.before = (*apart, sh, "-c", fill, str(records))

    process = node.start(**custom(f"touch {node.root}/ran"))
    _, errors = process.communicate(timeout=60)

    reason, text = CODES[process.returncode]
    assert (reason, "no room is left" in text) == (Reason.INFRASTRUCTURE, True), errors
    assert not (node.root / "ran").exists()


def test_a_scheduler_that_does_not_list_the_nodes_is_quoted(node: Nodes) -> None:
    hosts = ("sh", "-c", "echo 2 of 3 nodes answer >&2; exit 1")
    node.site = replace(node.site, scheduler=replace(node.site.scheduler, hosts=hosts))

    assert node.run(**custom("true")) == 250
    assert node.record()["message"] == "The nodes of the job cannot be listed: 2 of 3 nodes answer"


def test_every_node_is_prepared_and_has_files_of_its_own(two: Nodes) -> None:
    code = two.run(**custom("echo main"), jobPreparation={"commandLine": "echo on $NODE"})

    assert code == 0
    assert [two.output(f"stdout-job_prep-node{n}.txt") for n in (0, 1)] == ["on node0\n", "on node1\n"]
    assert "Executing 'job environment preparation' on node1" in two.output("execution-node1.log")
    assert two.output("stdout.txt") == "main\n"


def test_a_failed_preparation_starts_nothing_and_is_reported_as_by_the_service(node: Nodes) -> None:
    assert node.run(**custom("echo main"), jobPreparation={"commandLine": "exit 9"}) == 251

    assert (node.record()["reason"], node.record()["exitCode"]) == ("preparation", 1)
    assert node.output("stderr-job_prep.txt") == ""
    assert not (node.root / "mnt/logs/jobs/n/7-0/stdouterr/stdout.txt").exists()


def test_ranks_have_numbers_and_files(two: Nodes) -> None:
    (two.root / "r.sh").write_text("echo rank $AZ_BATCHAI_TASK_INDEX $1 $AZ_BATCHAI_PYTORCH_INIT_METHOD\n")
    script = {"pythonScriptFilePath": str(two.root / "r.sh"), "pythonInterpreterPath": "bash"}

    two.run(pyTorchSettings={**script, "commandLineArgs": "'a b'", "processCount": 4})

    meeting = f"file://{two.root}/records/7-0/shared/pytorch-init"
    assert [two.output(f"stdout-{n}.txt") for n in range(4)] == [
        f"rank {n} a b {meeting}\n" for n in range(4)
    ]


def test_a_parameter_server_ends_with_the_workers(two: Nodes) -> None:
    (two.root / "tf.sh").write_text(
        'echo "$TF_CONFIG"; case $TF_CONFIG in *\'"ps", "index"\'*) sleep 60;; esac\n'
    )
    script = {"pythonScriptFilePath": str(two.root / "tf.sh"), "pythonInterpreterPath": "bash"}

    assert two.run(tensorFlowSettings={**script, "workerCount": 2}) == 0

    config = json.loads(two.output("stdout-wk-1.txt"))
    assert config["cluster"] == {"chief": ["node0:2223"], "worker": ["node1:2222"], "ps": ["node0:2222"]}
    assert config["task"] == {"type": "worker", "index": 0}


def test_the_first_process_that_fails_ends_the_others(two: Nodes) -> None:
    (two.root / "x.sh").write_text("[ $AZ_BATCHAI_TASK_INDEX = 0 ] && exit 4; exec sleep 60\n")
    script = {"pythonScriptFilePath": str(two.root / "x.sh"), "pythonInterpreterPath": "bash"}

    assert two.run(tensorFlowSettings={**script, "workerCount": 2}) == 4


def test_the_wall_clock_limit_ends_a_job(node: Nodes) -> None:
    code = node.run(**custom("trap 'echo bye' TERM; sleep 60"), constraints={"maxWallClockTime": "PT1S"})

    assert (code, node.record()["reason"], node.record()["exitCode"]) == (124, "timeout", None)


def test_a_program_that_is_not_there_is_named(node: Nodes) -> None:
    node.site = replace(node.site, path=str(_tools(node.root)))

    assert node.run(customMpiSettings={"commandLine": "hostname"}) == 127

    assert node.record()["reason"] == "unsupported"
    assert "There is no mpirun on" in node.record()["message"]


@pytest.mark.parametrize(("content", "mode"), [("#!/bin/sh\n", 0o644), ("\x7fELF of another machine", 0o755)])
def test_a_program_that_cannot_be_run_is_named_and_is_no_failure_of_the_node(
    node: Nodes, content: str, mode: int
) -> None:
    tools = _tools(node.root)
    (tools / "mpirun").write_text(content)
    (tools / "mpirun").chmod(mode)
    node.site = replace(node.site, path=str(tools))

    assert node.run(customMpiSettings={"commandLine": "hostname"}) == 127

    record = node.record()
    assert (record["reason"], record["final"], record["exitCode"]) == ("unsupported", True, 127)
    assert record["message"].startswith("There is no mpirun that can be run (")


def test_a_path_without_the_programs_of_the_scheduler_is_named_at_once(node: Nodes) -> None:
    scheduler = replace(node.site.scheduler, ready=("no-such-scontrol", "ping"))
    node.site = replace(node.site, scheduler=scheduler)

    assert node.run(**custom("true")) == 127

    record = node.record()
    assert (record["reason"], record["final"], record["exitCode"]) == ("unsupported", True, 127)
    assert f"There is no no-such-scontrol in {_PATH} on " in record["message"]
    assert "`path` of the cluster" in record["message"]


def _tools(root: Path) -> Path:
    """A PATH with nothing but what the program itself needs."""
    folder = root / "bin"
    folder.mkdir()
    for name in ("bash", "echo", "true", "mkdir", "uname", "printf", "dirname", "ln", "rm", "find"):
        (folder / name).symlink_to(next(p for d in _PATH.split(":") if (p := Path(d, name)).exists()))
    return folder


def test_a_job_that_is_asked_to_end_says_so_at_once_and_may_be_run_again(node: Nodes) -> None:
    first = node.start(**custom(f"touch {node.root}/began; trap '' TERM; sleep 60 & wait; wait"))
    node.until("began")
    first.send_signal(signal.SIGTERM)
    node.until("records/7-0/result.json")
    assert first.wait(60) == 143
    assert (node.record()["reason"], node.record()["final"]) == ("terminated", False)
    first.communicate()

    again = node.start(restarts="1", **custom("echo again"))

    assert again.wait(60) == 0
    again.communicate()
    assert node.output("stdout.txt", "7-1") == "again\n"


def test_a_copy_of_a_job_that_ended_answers_for_it_and_runs_nothing(node: Nodes) -> None:
    assert node.run(**custom("echo x >> $AZ_BATCHAI_MOUNT_ROOT/ran; exit 5")) == 5
    assert node.run(**custom("echo x >> $AZ_BATCHAI_MOUNT_ROOT/ran; exit 5"), job="9", once="s2") == 5

    assert (node.root / "mnt/ran").read_text() == "x\n"
    assert sorted(path.name for path in (node.root / "records").iterdir()) == ["7-0", "claim.json", "turns"]


def test_the_record_of_an_end_is_copied_to_where_it_is_noticed(node: Nodes) -> None:
    node.site = replace(node.site, ends=str(node.root / "ends"))

    assert node.run(**custom("exit 5")) == 5

    assert json.loads((node.root / "ends/t.1/result.json").read_text()) == node.record()
    assert [path.name for path in (node.root / "ends/t.1").iterdir()] == ["result.json"]


def test_a_place_that_cannot_be_written_costs_the_job_nothing(node: Nodes) -> None:
    (node.root / "ends").write_text("a file")
    node.site = replace(node.site, ends=str(node.root / "ends"))

    assert node.run(**custom("true")) == 0
    assert node.record()["final"]


def test_a_copy_of_a_job_that_has_begun_runs_nothing(node: Nodes) -> None:
    first = node.start(**custom(f"touch {node.root}/began; until [ -e {node.root}/go ]; do sleep 0.1; done"))
    node.until("began")

    assert node.run(**custom("echo x > $AZ_BATCHAI_MOUNT_ROOT/ran"), job="9", once="s2") == 253

    (node.root / "go").touch()
    assert first.wait(60) == 0
    first.communicate()
    assert not (node.root / "mnt/ran").exists()


def test_no_variable_of_a_job_stands_for_one_of_the_program(node: Nodes) -> None:
    """Every name that the program reads, as the source has them, with a value that leads elsewhere."""
    elsewhere = node.root / "elsewhere"
    elsewhere.mkdir()
    sources = launch.script() + SETUP + CLEANUP + USAGE + KEEP
    names = sorted({*re.findall(r"SLIPWAY_[A-Z_]*[A-Z]", sources), "AZ_BATCHAI_STDOUTERR_DIR"})
    assert {"SLIPWAY_KEPT", "SLIPWAY_REMOVED", "SLIPWAY_TEMP"} <= set(names)

    code = node.run(
        **custom("exit 3"),
        environmentVariables=[{"name": name, "value": str(elsewhere)} for name in names],
    )

    assert (code, node.record()["exitCode"], node.record().get("kept")) == (3, 3, None)
    assert list(elsewhere.iterdir()) == []


def test_a_name_that_belongs_to_another_job_is_left_alone(node: Nodes) -> None:
    """Where there is no key; with one, each job has turns of its own."""
    node.proofs = Proofs()
    node.run(**custom("true"))

    assert node.run(**custom("echo x > $AZ_BATCHAI_MOUNT_ROOT/ran"), job="9", token="other.1") == 252

    assert not (node.root / "mnt/ran").exists()


def test_a_run_that_was_cut_off_ends_when_the_next_one_has_the_claim(node: Nodes) -> None:
    """The node lost the controller, the job was requeued elsewhere, and the old processes live on."""
    alive = f"echo $$ >> {node.root}/pids; touch {node.root}/began; exec sleep 60"
    old = node.start(**custom(alive))
    node.until("began")
    (node.root / "began").unlink()

    new = node.start(restarts="1", **custom(f"echo $$ >> {node.root}/pids; touch {node.root}/second"))

    assert new.wait(60) == 0
    assert old.wait(60) == 254
    first, _ = (node.root / "pids").read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(first), 0)
    assert node.record("7-1")["final"]
    assert node.record("7-0")["state"] == "running", "it has nothing more to say"
    for process in (old, new):
        process.communicate()


def test_a_run_and_an_attempt_find_what_those_before_them_saved(node: Nodes) -> None:
    node.site = replace(node.site, saved=str(node.root / "saved/j"))
    adds = 'echo "$SLIPWAY_SAVED" >>"$SLIPWAY_SAVED/runs"'

    node.run(**custom(f"{adds}; kill -9 $PPID"))
    again = node.start(restarts="1", **custom(f"{adds}; exit 3"))
    again.communicate(timeout=60)
    second = node.second("user", **custom(adds))
    second.communicate(timeout=60)

    saved = node.root / "saved/j"
    assert (again.returncode, second.returncode) == (3, 0)
    assert (saved / "runs").read_text() == f"{saved}\n" * 3
    assert stat.S_IMODE(saved.stat().st_mode) == PRIVATE
    assert node.record("7-1")["directories"]["saved"] == str(saved)


def test_what_outlives_the_attempts_has_an_id_that_the_job_has_not_taken(node: Nodes) -> None:
    node.site = replace(node.site, saved=str(node.root / "saved/j"))
    own = [{"id": name, "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"} for name in ("saved", "saved_")]

    assert node.run(**custom("true"), outputDirectories=own) == 0

    directories = node.record()["directories"]
    assert [name for name, path in directories.items() if path == node.site.saved] == ["saved__"]


def test_a_job_goes_on_from_a_copy_of_what_another_one_saved(node: Nodes) -> None:
    before, saved = node.root / "saved/earlier", node.root / "saved/j"
    (before / "deep").mkdir(parents=True)
    before.chmod(PRIVATE)
    (before / "deep/step").write_text("7\n")
    (before / "last").symlink_to("deep/step")
    (node.root / "records/7-0/saved").mkdir(parents=True)  # of a run that was killed while it copied
    (node.root / "records/7-0/saved/half").touch()
    node.site = replace(node.site, saved=str(saved), resumed=str(before))
    command = 'cat "$SLIPWAY_SAVED/last"; ls "$SLIPWAY_SAVED"; echo 8 >"$SLIPWAY_SAVED/deep/step"; exit 3'

    assert node.run(**custom(command)) == 3
    second = node.second("user", **custom('cat "$SLIPWAY_SAVED/last"'))
    second.communicate(timeout=60)

    assert node.output("stdout.txt", "7-0-2") == "7\ndeep\nlast\n"
    assert (second.returncode, (saved / "last").read_text()) == (0, "8\n")
    assert node.output("stdout.txt", "8-0") == "8\n"
    assert stat.S_IMODE(saved.stat().st_mode) == PRIVATE
    assert sorted(path.name for path in before.iterdir()) == ["deep", "last"]
    assert (before / "last").read_text() == "7\n", "it stays as it was"


def test_a_copy_that_is_cut_off_is_not_gone_on_from(node: Nodes) -> None:
    before, saved = node.root / "saved/earlier", node.root / "saved/j"
    before.mkdir(parents=True)
    for name in ("a", "b"):
        (before / name).touch()
    cut = node.root / "programs/cp"
    cut.parent.mkdir()
    # It copies one file; then its node dies, with the program that runs the job.
    cut.write_text("""#!/bin/bash
/bin/cp "${@: -2:1}/a" "${@: -1}"
read -r _ _ _ _ _ session _ </proc/$$/stat
read -r _ _ _ program _ <"/proc/$session/stat"
kill -9 "$program" -"$session"
""")
    cut.chmod(0o755)
    site = replace(node.site, saved=str(saved), resumed=str(before))
    node.site = replace(site, path=f"{cut.parent}:{site.path}")
    first = node.start(**custom("true"))
    first.communicate(timeout=60)
    assert first.returncode == -signal.SIGKILL
    assert not saved.exists()

    node.site = site
    again = node.start(restarts="1", **custom('ls "$SLIPWAY_SAVED"'))
    again.communicate(timeout=60)

    assert (again.returncode, node.output("stdout.txt", "7-1")) == (0, "a\nb\n")
    assert list((node.root / "records").glob("*/saved")) == []


def test_a_copy_that_comes_late_changes_nothing(node: Nodes) -> None:
    """A run that was killed copied on, beside the next one."""
    before, saved = node.root / "saved/earlier", node.root / "saved/j"
    before.mkdir(parents=True)
    (before / "a").touch()
    late = node.root / "programs/cp"
    late.parent.mkdir()
    late.write_text(f'#!/bin/bash\n/bin/cp "$@" && mkdir {saved} && touch {saved}/of-the-other\n')
    late.chmod(0o755)
    node.site = replace(node.site, saved=str(saved), resumed=str(before))
    node.site = replace(node.site, path=f"{late.parent}:{node.site.path}")

    assert node.run(**custom('ls "$SLIPWAY_SAVED"')) == 0

    assert node.output("stdout.txt") == "of-the-other\n"
    assert not (node.root / "records/7-0/saved").exists()


def test_a_job_that_has_nothing_to_go_on_from_does_not_begin_anew(node: Nodes) -> None:
    before = node.root / "saved/earlier"
    node.site = replace(node.site, saved=str(node.root / "saved/j"), resumed=str(before))

    assert node.run(**custom(f"touch {node.root}/ran")) == 251

    record = node.record()
    assert record["reason"] == "preparation"
    assert record["message"] == f"There is nothing in {before}: that job did not run here, or it is archived"
    assert not (node.root / "ran").exists()
    assert not (node.root / "saved/j").exists()


def test_a_number_that_is_used_again_gets_a_directory_of_its_own(node: Nodes) -> None:
    node.run(**custom("kill -9 $PPID"))

    assert node.run(**custom("echo second")) == 0

    assert node.output("stdout.txt", "7-0-2") == "second\n"


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_run_leaves_nothing_on_its_nodes(tmp_path: Path, nodes: int) -> None:
    node = Nodes(tmp_path / "nodes", nodes)
    assert node.run(**custom("touch $AZ_BATCHAI_JOB_TEMP/x")) == 0
    assert not (node.root / "temporary").exists()


def test_a_run_removes_what_earlier_ones_left_on_its_node_once_their_time_is_over(node: Nodes) -> None:
    now = time.time()
    for name, until in (("dead", now - 90_000), ("late", now - 3_600), ("live", now + 60), ("odd", "x")):
        (node.root / name / "5-0/wd").mkdir(parents=True)
        (node.root / name / "5-0.until").write_text(f"{until if isinstance(until, str) else int(until)}\n")
    (node.root / "other/6-0").mkdir(parents=True)

    assert node.run(**custom("true")) == 0

    remaining = {name for name in ("dead", "late", "live", "odd", "other") if (node.root / name).exists()}
    assert remaining == {"late", "live", "odd", "other"}
    assert node.output("execution.log").count("until") == 0
