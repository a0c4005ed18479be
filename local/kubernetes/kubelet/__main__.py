"""`python -m local.kubernetes.kubelet`: one node, until it is killed."""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from local.kubernetes.api import Refused, api
from local.kubernetes.kubeconfig import connection
from local.kubernetes.kubelet.node import Node, Settings
from local.kubernetes.kubelet.port import serve
from local.stop import stop_event


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m local.kubernetes.kubelet", description="One node.")
    for option in ("kubeconfig", "folder", "certificate", "authority"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    for option in ("port", "gpus", "pods", "lease-seconds"):
        parser.add_argument(f"--{option}", type=int, required=True)
    for option in ("name", "path"):
        parser.add_argument(f"--{option}", required=True)
    try:
        return asyncio.run(_serve(parser.parse_args()))
    except (OSError, Refused) as error:
        sys.stderr.write(f"node: {error}\n")
        return 1


async def _serve(arguments: argparse.Namespace) -> int:
    stop = stop_event(until_stdin_closes=True)
    document = json.loads(arguments.kubeconfig.read_text())
    names = ("name", "folder", "port", "gpus", "pods", "path", "lease_seconds")
    settings = Settings(**{name: getattr(arguments, name) for name in names})
    async with api(connection(document, settings.folder.parent)) as server:
        node = Node(server, settings)
        runner = await serve(node.find, settings.port, arguments.certificate, arguments.authority)
        await node.register()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        tasks = {asyncio.ensure_future(one) for one in (node.beat(), node.work(), stop.wait())}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await runner.cleanup()
        for task in done:
            task.result()
    return 0


if __name__ == "__main__":
    sys.exit(main())
