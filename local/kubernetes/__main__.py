"""`python -m local.kubernetes`: run a cluster until Ctrl-C."""

import argparse
import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from local.kubernetes.cluster import Kubernetes
from local.kubernetes.programs import ROOT, KubernetesError
from local.kubernetes.start import Options, kubernetes
from local.stop import stop_event


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m local.kubernetes", description="A real Kubernetes on this machine."
    )
    home = ROOT / ".local" / "kubernetes"
    parser.add_argument("--data", type=Path, default=home, help="directory of everything")
    parser.add_argument("--port", type=int, default=0, help="of the API server (default: any free one)")
    parser.add_argument("--nodes", type=int, default=2, help="how many (default: 2)")
    arguments = parser.parse_args()
    options = Options(data=arguments.data, port=arguments.port, nodes=arguments.nodes)
    sys.stdout.write(f"starting etcd, API server, controllers, scheduler and {options.nodes} nodes…\n")
    sys.stdout.flush()
    try:
        return asyncio.run(_serve(options))
    except KubernetesError as error:
        sys.stderr.write(f"kubernetes: {error}\n")
        return 1


async def _serve(options: Options) -> int:
    stop = stop_event(until_stdin_closes=False)
    running = asyncio.ensure_future(_run(options))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({stopping, running}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    return 0


async def _run(options: Options) -> None:
    """Run until one of its programs ends, which raises KubernetesError."""
    async with kubernetes(options) as cluster:
        sys.stdout.write("\n".join(guide(cluster)) + "\n")
        sys.stdout.flush()
        ends = [asyncio.ensure_future(process.wait()) for process in cluster.processes]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in ends:
                one.cancel()
        names = ", ".join(process.name for process in cluster.processes if process.returncode is not None)
        raise KubernetesError(f"{names} ended by itself; see {cluster.logs}")


def guide(cluster: Kubernetes) -> list[str]:
    """The variables to export, and how to use them."""
    return [
        f"ready {cluster.url}",
        "",
        f"export KUBECONFIG={cluster.admin}",
        "kubectl get nodes",
        "kubectl create job hello --image=this-machine -- /bin/echo hello",
        "kubectl logs --follow job/hello",
        "",
        f"Nodes: {', '.join(cluster.nodes)}; the image of every pod is this machine.",
        f"The service account for Slipway, with a namespace and a claim: {cluster.slipway}.",
        f"Pods that mount its claim share {cluster.shared}. Logs: {cluster.logs}.",
        "Ctrl-C stops everything; Jobs and their state are kept.",
    ]


if __name__ == "__main__":
    sys.exit(main())
