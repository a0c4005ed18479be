"""`slipway up`: the local stack, kept running until Ctrl-C, on ports that stay the same."""

import asyncio
import os
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from local.border import host_name
from local.clusters.kind import NAME
from local.clusters.registry import CLUSTERS, USUAL
from local.stack import Options, Ports, Stack
from shared.configured import ConfiguredEngines
from shared.settings import Settings
from slipway.failure import Failure
from slipway.settings import ADDRESS, ROOT, UP, display_path, noted_stack
from slipway.stack.data_folder import lock_folder, most_nodes
from slipway.stack.example import run_example
from slipway.stack.login_key import login_key
from slipway.stack.own_clusters import own_clusters
from slipway.stack.ports import check_ports
from slipway.stack.provision import Plan, Step
from slipway.stack.running import run_until_stopped, running, starts, while_it_runs
from slipway.stack.setup import by_kind
from slipway.stack.shell_settings import closed, shell_settings, with_file
from slipway.terminal.screen import put

_STORAGE = 10000
#: The address at which programs usually find Azurite.
_USUAL = "UseDevelopmentStorage=true"


def run(
    data: Path | None,
    ports: Ports,
    nodes: int,
    cluster: str = USUAL,
    emulator_arguments: tuple[str, ...] = (),
    allowed_hosts: tuple[str, ...] = (),
    settings_file: Path | None = None,
    *,
    app: bool = True,
    example: bool = False,
) -> int:
    """Run until a signal, then return 0. Raises Failure if a part does not start, or ends by itself.

    With `example`, a first job runs if there is none yet. Without `app`, the person starts a host of their
    choice. With a settings file, jobs run on the clusters in it, and no local cluster starts.
    """
    if settings_file is not None:
        return _with_own_clusters(
            settings_file, data, ports, cluster, emulator_arguments, allowed_hosts, app=app
        )
    if example and not app:
        raise Failure("--example needs the function app, which --no-app leaves out: leave out one of them")
    kind = CLUSTERS[cluster]
    if emulator_arguments and not kind.takes_options:
        option = emulator_arguments[0].partition("=")[0]
        raise Failure(
            f"{option} is an option of the emulator, but the cluster is {cluster}: leave one of them out"
        )
    # Jobs stay on the cluster that they were sent to, so each cluster has a ledger of its own.
    where = data or (UP if cluster == USUAL else UP.with_name(f"{UP.name}-{cluster}"))
    mounts = any(argument.startswith("--unmanaged-mounts=") for argument in emulator_arguments)
    shell = shell_settings(os.environ)
    with lock_folder(where):
        check_ports(ports if app else replace(ports, host=0))
        most = most_nodes(where, nodes) if kind.keeps_nodes else nodes
        options = Options(
            data=where,
            ports=ports,
            overrides=closed({**shell.values, **({"SLIPWAY_UNMANAGED_MOUNTS": "true"} if mounts else {})}),
            cluster=cluster,
            nodes=most,
            app=ROOT if app else None,
            cluster_arguments=emulator_arguments,
            allowed_hosts=allowed_hosts,
        )
        put(*shell.lines())
        plan = Plan(maximum=most, ssh_key=login_key(where))
        return run_until_stopped(_stay(options, plan, example=example), interrupted=0)


def _with_own_clusters(
    file: Path,
    data: Path | None,
    ports: Ports,
    cluster: str,
    emulator_arguments: tuple[str, ...],
    allowed_hosts: tuple[str, ...],
    *,
    app: bool,
) -> int:
    if emulator_arguments or cluster != USUAL:
        option = emulator_arguments[0].partition("=")[0] if emulator_arguments else "--cluster"
        raise Failure(f"--settings names existing clusters, and {option} is for a local one: leave one out")
    shell = shell_settings(os.environ)
    values = with_file(shell, own_clusters(file))
    where = data or UP.with_name(f"{UP.name}-of-{re.sub(r'[^A-Za-z0-9.-]', '-', file.stem)}")
    with lock_folder(where):
        check_ports(replace(ports, emulator=0, host=ports.host if app else 0))
        put(*shell.lines())
        options = Options(
            data=where,
            ports=ports,
            overrides=closed(values),
            cluster=None,
            app=ROOT if app else None,
            allowed_hosts=allowed_hosts,
        )
        return run_until_stopped(_stay(options, Plan()), interrupted=0)


def emulator_arguments(
    containers: str | None, secrets_file: Path | None, unmanaged_mounts: Path | None
) -> tuple[str, ...]:
    """The options of the emulator that a person may give. Raises Failure for a missing file."""
    arguments = [f"--containers={containers}"] if containers else []
    for option, file in (("--secrets-file", secrets_file), ("--unmanaged-mounts", unmanaged_mounts)):
        if file is None:
            continue
        if not file.is_file():
            raise Failure(f"{option}: there is no file {file}")
        arguments.append(f"{option}={file.resolve()}")
    return tuple(arguments)


def host_names(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of `--allow-host`. Raises Failure for an invalid one."""
    try:
        return tuple(map(host_name, texts))
    except ArgumentTypeError as error:
        raise Failure(f"--allow-host: {error}") from error


async def _stay(options: Options, plan: Plan, *, example: bool = False) -> int:
    put(starts(options))

    def provisioned(steps: list[Step]) -> None:
        for line in by_kind(steps):
            put(f"  {line}")

    async with running(options, plan, provisioned) as stack:
        address = options.data / ADDRESS
        address.write_text(stack.host_url, encoding="utf-8")
        put(*guide(stack, options, plan))
        try:
            with noted_stack(options.data):
                await while_it_runs(stack, _wait(stack, example=example))
        finally:
            address.unlink(missing_ok=True)
            put("", "stopping")
    return 1


async def _wait(stack: Stack, *, example: bool) -> None:
    """Wait forever, after the example if it was requested."""
    if example and (line := await run_example(stack)):
        put("", line)
    await asyncio.Event().wait()


def guide(stack: Stack, options: Options, plan: Plan) -> Sequence[str]:
    """Every address, and commands to drop, enqueue and query, ready to copy."""
    storage, api, data = stack.storage, f"{stack.host_url}/api", options.data
    usual = storage.blob_url.startswith(f"http://127.0.0.1:{_STORAGE}/")
    connection = _USUAL if usual else storage.connection_string
    command = _command()
    own = data.resolve() == UP
    settings = "" if own else f" --settings {display_path(data / 'local.settings.json')}"
    url = "" if own or stack.host_url.endswith(":7071") else f" --url {stack.host_url}"
    sending = [
        *_other_doors(command, connection, settings),
        "Submit a job over HTTP",
        f"  {command} submit examples/request.json{url}",
        f"  curl -s {api}/jobs -H 'Content-Type: application/json' -d @examples/request.json",
    ]
    return [
        "",
        f"ready {stack.host_url}",
        "",
        *([] if options.app else [f"  function app  not started: {_start_app(data)}"]),
        f"  page          {api}/ui/   (open it in a browser)",
        f"  API           {api}/jobs   {api}/clusters   {api}/health",
        *_cluster(stack, options.cluster, plan.maximum),
        f"  webhooks      {stack.receiver_url}/received   (every delivery; the default receiver of jobs)",
        f"  blobs         {storage.blob_url}   (drops: scripts, receipts: runs)",
        f"  queues        {storage.queue_url}   (jobs)",
        f"  tables        {storage.table_url}",
        f"  logs          {display_path(stack.logs)}",
        "",
        "Run a folder of yours, and get what it writes",
        f"  {command} run FOLDER{url}",
        *(sending if stack.cluster else ["Submit a job over HTTP", f"  {command} submit job.json{url}"]),
        "See what became of it",
        f"  {command} jobs{url}",
        f"  {command} log JOB --follow{url}",
        f"  {command} download JOB{url}",
        f"  curl -s {api}/jobs",
        "",
        f"The stored data stays in {display_path(data)}. Ctrl-C stops everything.",
    ]


def _start_app(data: Path) -> str:
    """How a person runs the app in the host of their choice."""
    return f"cp {display_path(data / 'local.settings.json')} . && func start"


def _other_doors(command: str, connection: str, settings: str) -> Sequence[str]:
    """How to drop a folder and how to enqueue a message, with the command and with `az`."""
    return [
        "Drop a folder with a script and a job.json",
        f"  {command} drop examples/digits{settings}",
        f"  az storage blob upload-batch --connection-string '{connection}' \\",
        "    --source examples/digits --destination scripts --destination-path digits",
        "Enqueue a job",
        f"  {command} enqueue examples/message.json{settings}",
        f"  az storage message put --connection-string '{connection}' \\",
        '    --queue-name jobs --content "$(base64 -w0 examples/message.json)"',
    ]


def _cluster(stack: Stack, kind: str | None, nodes: int) -> Sequence[str]:
    if kind is None or stack.cluster is None:
        names = ConfiguredEngines(Settings(stack.settings)).clusters
        return [f"  clusters      {', '.join(names)}"]
    about = f"(cluster {NAME}, from 0 to {nodes} nodes)"
    hints = (f"                {hint}" for hint in stack.cluster.hints)
    return [f"  {CLUSTERS[kind].title:<13} {stack.cluster.url}   {about}", *hints]


def _command() -> str:
    """How to call this command: by name if the environment is active, else by path."""
    path = Path(sys.executable).with_name("slipway")
    active = str(path.parent) in os.environ.get("PATH", "").split(os.pathsep)
    return "slipway" if active or not path.exists() else display_path(path)
