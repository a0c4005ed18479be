"""`slipway run`: its options. Its code is imported when it is called."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from slipway.commands.options import (
    LOCAL,
    After,
    AfterFailure,
    DryRun,
    Env,
    IdempotencyKey,
    JsonLines,
    Key,
    MaxCost,
    Secrets,
    Url,
)

app = typer.Typer()

Time = Annotated[
    str,
    typer.Option(metavar="LENGTH", help="the longest that it may run, such as 90m or 4h  [default: 7 days]"),
]
Retry = Annotated[
    int | None, typer.Option(min=0, max=10, help="more attempts after a failure of its own  [default: 0]")
]
Hold = Annotated[
    str,
    typer.Option(metavar="LENGTH", help="after a failure keep its nodes, such as 30m  [default: not at all]"),
]
Priority = Annotated[
    Literal["low", "normal", "high"] | None, typer.Option(help="its priority  [default: normal]")
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME=VALUE", help="a label for lists and costs; may be given again"),
]
Experiment = Annotated[str, typer.Option(help="the experiment that it belongs to  [default: none]")]
Notify = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="webhook or channel:NAME that learns how it ended; may be given again"),
]
Arguments = Annotated[
    list[str] | None, typer.Argument(metavar="[-- ARGUMENT…]", help="arguments of the script")
]
Nodes = Annotated[
    int | None, typer.Option(min=1, help="nodes of the job  [default: 1, or what the job.json says]")
]
Gpus = Annotated[
    int | None,
    typer.Option(min=0, help="GPUs of each node, if the cluster lets a job choose  [default: all of them]"),
]
To = Annotated[
    Path | None,
    typer.Option(help="the directory for its output, also if it fails  [default: one named after the job]"),
]
Script = Annotated[
    str, typer.Option(help="the script of the folder that runs  [default: train.py, main.py, …]")
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE,VALUE", help="a job for each value; {NAME} in an argument is replaced"),
]
Parallel = Annotated[
    int | None, typer.Option(min=1, help="jobs of the sweep at once  [default: all of them]")
]

_HELP = """Send a script or a folder, follow its job, and download its output.

The job runs in a copy of the folder as it is now: what you change later is for the next job.

Without a job.json, one is made for the script and shown; each node installs what the folder's
requirements.txt, uv.lock, pyproject.toml or environment.yml lists. With one, the options change it for this
job. Tools' folders (.git, environments, caches) and files such as .env stay here, which is said; a
.slipwayignore names more. With --sweep, it prints the sweep and does not follow it. The exit code is that
of the job, and 125 where no answer says how it ended. After Ctrl-C the job goes on, or is cancelled if you
say so.

With --json, `event` says what an object is: job (its id), state, waits, log (a line with its file and
rank), and last end, with the exit code or what was downloaded, or interrupted, after a Ctrl-C, with
the idempotencyKey of what was submitted and has no id yet. The exit code of the command is then 0, or 1 for
a job that did not succeed.
"""


@app.command(short_help="Send a script or a folder, follow its job, and download its output.", help=_HELP)
def run(
    path: Annotated[Path, typer.Argument(help="a script, or a folder with a script and perhaps a job.json")],
    arguments: Arguments = None,
    nodes: Nodes = None,
    image: Annotated[str, typer.Option(help="container image that it runs in")] = "",
    env: Env = None,
    secret: Secrets = None,
    cluster: Annotated[str, typer.Option(help="cluster of the job  [default: the app's]")] = "",
    gpus: Gpus = None,
    time: Time = "",
    retry: Retry = None,
    priority: Priority = None,
    label: Labels = None,
    experiment: Experiment = "",
    notify: Notify = None,
    hold: Hold = "",
    after: After = None,
    after_failure: AfterFailure = None,
    name: Annotated[str, typer.Option(help="name of the job  [default: that of the folder]")] = "",
    to: To = None,
    detach: Annotated[bool, typer.Option("--detach", help="print the id, and do not follow the job")] = False,
    save: Annotated[bool, typer.Option("--save", help="write the job.json beside the script")] = False,
    script: Script = "",
    sweep: Sweep = None,
    parallel: Parallel = None,
    dry_run: DryRun = False,
    max_cost: MaxCost = None,
    idempotency_key: IdempotencyKey = "",
    as_json: JsonLines = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send a script or a folder, and follow its job."""
    from slipway.client.request.compose import Choices
    from slipway.client.request.order import Order
    from slipway.client.request.request import Options
    from slipway.client.request.secrets import secret_values, variables
    from slipway.client.request.terms import Terms, labels, time_limit
    from slipway.commands.run.parameters import parameters
    from slipway.commands.run.run import run as send_and_follow

    how_long, hold_length, to_urls = time_limit(time), time_limit(hold, "--hold"), tuple(notify or ())
    terms = Terms(how_long, priority, retry, labels(label or ()), experiment, to_urls, hold_length)
    order, values = Order(after or (), after_failure or ()), variables(env or ())
    words, sealed = tuple(arguments or ()), secret_values(secret or ())
    choices = Choices(nodes, image, values, words, cluster, gpus, order, sealed, terms)
    of_sweep, once = parameters(sweep or ()), idempotency_key
    options = Options(choices, name, save, script, of_sweep, parallel, once=once, max_cost=max_cost)
    code = send_and_follow(path, options, url, key, to=to, detach=detach, dry=dry_run, as_json=as_json)
    raise typer.Exit(code)
