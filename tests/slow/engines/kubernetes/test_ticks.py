"""While the program in shell waits for a job, only a request to end it interrupts the wait.

In some shells, a signal in the moment of the job's end takes the place of its exit code.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, NodesInShell
from tests.slow.engines.slurm.test_program import custom


@pytest.mark.parametrize("shell", SHELLS)
def test_only_a_request_interrupts_the_wait_for_a_job(tmp_path: Path, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    node = NodesInShell(tmp_path, shell=shell)
    process = node.start(
        **custom(f"touch {node.root}/began; until [ -e {node.root}/go ]; do sleep 0.1; done; exit 5")
    )
    node.until("began")

    match = re.search(r"SigCgt:\s*([0-9a-f]+)", Path(f"/proc/{process.pid}/status").read_text())
    (node.root / "go").touch()
    process.communicate(timeout=60)

    assert match is not None
    caught = {one for one in signal.Signals if int(match[1], 16) >> (one - 1) & 1}
    assert {signal.SIGTERM, signal.SIGINT} <= caught
    assert not caught & {signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
    assert process.returncode == 5
