"""Execute a notebook in place: `python -m tests.acceptance.python.notebook FILE KERNEL SECONDS`.

A process of its own, as Jupyter's client does not close all of its sockets. The kernel keeps its files, and
the sockets that it talks by, below KERNEL; SECONDS is the patience with one cell.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient


async def execute(file: Path, kernel: Path, seconds: int) -> None:
    """Run every cell and write the outputs into the file. Raises CellExecutionError if a cell raises."""
    notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    manager = AsyncKernelManager(transport="ipc", connection_file=str(kernel / "kernel.json"))
    resources = {"metadata": {"path": str(file.parent)}}
    await NotebookClient(notebook, km=manager, timeout=seconds, resources=resources).async_execute()
    nbformat.write(notebook, file)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(execute(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
