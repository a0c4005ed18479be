"""gpus: the NVIDIA GPUs of this machine, as nvidia-smi reports them.

The driver's files in /proc would count too many in a container that sees some GPUs only, and none in WSL.
"""

import asyncio
import shutil
import subprocess
from contextlib import suppress

#: Seconds for the program.
_PATIENCE = 10.0
_FORMAT = "--format=csv,noheader,nounits"


def count() -> int:
    """The number of GPUs; 0 where the program is missing or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return 0
    argv = (program, "--query-gpu=index", _FORMAT)
    with suppress(OSError, subprocess.TimeoutExpired):
        answer = subprocess.run(argv, capture_output=True, timeout=_PATIENCE, check=False)
        return sum(line.strip().isdigit() for line in answer.stdout.splitlines())
    return 0


async def use() -> dict[int, tuple[str, str]]:
    """Percent and MiB in use of each GPU, by its number in NVML; of none without the program."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    out = b""
    with suppress(OSError, TimeoutError):
        process = await asyncio.create_subprocess_exec(
            program,
            "--query-gpu=index,utilization.gpu,memory.used",
            _FORMAT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(_PATIENCE):
                out, _ = await process.communicate()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
    rows = (line.split(", ") for line in out.decode(errors="replace").splitlines())
    return {int(row[0]): (row[1], row[2]) for row in rows if len(row) == 3 and row[0].isdecimal()}
