"""A job may take the rights to its records away, which are its user's: its end is recorded all the same."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from shared.core.engine import Order
from shared.core.errors import Busy
from shared.core.job import Target
from shared.engines.node.claim import Claim, Silent
from shared.engines.node.store import Directory
from shared.engines.runs import UNPROVEN
from shared.engines.shared_records import Records
from shared.engines.slurm.cluster import SlurmCluster
from tests.breadth import every_few, pairs
from tests.hostile.unproven import OWN, PROOFS
from tests.slow.conftest import USER
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, NodesInShell
from tests.slow.engines.slurm.test_program import Program, custom

#: What it closes, below the directory of its attempt.
CLOSED = ("turns", "turns/1", "turns/77", ".", "7-0", "turns and more")
END = {"final": True, "state": "ended", "reason": "", "code": 5}


def _close(attempt: Path, which: str) -> None:
    if which == "turns/77":
        (attempt / which).touch()
    for one in ("turns/1", "turns", ".") if which == "turns and more" else (which,):
        (attempt / one).chmod(0)


@pytest.mark.parametrize("which", CLOSED)
def test_the_program_in_python_opens_them_again(folder: Path, which: str) -> None:
    attempt = folder / "n"
    run = Claim(Directory(attempt, OWN), "t.1", "s1")
    run.take(["7", "0"])

    _close(attempt, which)
    assert run.is_held()
    run.record(END)

    _close(attempt, which)
    with pytest.raises(Silent) as silent:
        Claim(Directory(attempt, OWN), "t.1", "s1").take(["7", "1"])
    assert silent.value.code == 5


@pytest.mark.parametrize("mode", [0o400, 0o500])
def test_a_place_that_only_cannot_be_written_is_one_of_them(folder: Path, mode: int) -> None:
    attempt = folder / "n"
    run = Claim(Directory(attempt, OWN), "t.1", "s1")
    run.take(["7", "0"])
    for one in ("turns", "7-0", "."):
        (attempt / one).chmod(mode)

    run.record(END)

    assert sorted(path.name for path in (attempt / "turns").iterdir()) == ["1", "2"]


class Unprivileged(NodesInShell):
    """A node whose user is not root."""

    def program(self, order: Order, once: str, job: str, restarts: str) -> Program:
        program = super().program(order, once, job, restarts)
        setpriv = shutil.which("setpriv")
        assert setpriv is not None
        command = [setpriv, f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *program.command]
        return program._replace(command=command) if os.getuid() == 0 else program


@pytest.mark.parametrize(("which", "shell"), every_few(pairs(CLOSED, SHELLS), 4))
def test_the_program_in_shell_opens_them_again(folder: Path, which: str, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    node = Unprivileged(folder, shell=shell)
    (folder / "bin/chmod").unlink(missing_ok=True)
    (folder / "bin/chmod").symlink_to("/bin/chmod")
    attempt = folder / "records"
    names = ("turns/1", "turns", "") if which == "turns and more" else (which,)
    shut = "; ".join(
        f"[ -e {attempt}/{one} ] || touch {attempt}/{one}; chmod 000 {attempt}/{one}" for one in names
    )

    assert node.run(**custom(f"{shut}; sleep 2; exit 5")) == 5

    _close(attempt, which)
    assert node.run(restarts="1", **custom(f"touch {folder}/ran")) == 5
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("which", [one for one in CLOSED if one != "7-0"])
async def test_for_the_app_a_closed_record_is_a_sign_that_something_ran(folder: Path, which: str) -> None:
    """It says nothing else, and stops nothing: the scheduler decides how the job ended."""
    cluster = SlurmCluster("gpu", url="http://127.0.0.1:9", user="u", shared="/s", reads={"/s": str(folder)})
    target = Target(engine="slurm", cluster="gpu", experiment="e", name="n", token="t.1")
    attempt = folder / Path(cluster.layout.attempt(target)).relative_to("/s")
    run = Claim(Directory(attempt, OWN), "t.1", "s1")
    run.take(["7", "0"])
    run.record({"final": False, "state": "running"})
    records = Records(cluster, PROOFS)

    _close(attempt, which)
    record = await records.find(target)

    assert record is not None
    assert record.get(UNPROVEN) is (None if which == "turns/77" else True)
    assert records.segment(target, record).endswith("/7-0") is (which == "turns/77")
    _close(attempt, ".")
    with pytest.raises(Busy, match="cannot be read"):
        await Records(cluster).find(target)
