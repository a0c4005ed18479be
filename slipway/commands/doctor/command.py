"""The command `doctor`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.clone import CLUSTERS, module_of_clone
from slipway.commands.options import LOCAL, Json, Key, SettingsFile, Url

Live = Annotated[
    bool, typer.Option("--live", help="prove the deployment of azd, point by point, by a tiny job")
]
Receiver = Annotated[
    str, typer.Option(help="with --live: URL that checks signatures, for a test event", show_default=False)
]
Subscription = Annotated[
    str, typer.Option(help="for GPU quotas: its id  [default: azd's environment]", show_default=False)
]
Region = Annotated[
    str, typer.Option(help="for GPU quotas: its name  [default: azd's environment]", show_default=False)
]
app = typer.Typer()


@app.command(short_help="Report what does not work here, with the remedy.")
def doctor(
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
    settings: SettingsFile = None,
    live: Live = False,
    receiver: Receiver = "",
    subscription: Subscription = "",
    region: Region = "",
) -> None:
    """Report what is installed, reachable and misconfigured, with the remedy; exit code 1 for a failure.

    It looks at this machine, the profiles, the environment, the settings, and the deployment with its
    clusters; in a clone also at what the local stack needs, and where azd deployed it, at GPU quotas. It
    changes nothing, and shows no key. With --live it proves a deployment on Azure: it drops a tiny job,
    and cancels it.
    """
    command = import_module("slipway.commands.doctor.doctor")
    more = module_of_clone("slipway.stack.local_checks").CHECKS if CLUSTERS else ()
    options = command.Options(url, key, settings, subscription, region, receiver)
    raise typer.Exit(command.run(options, more, is_live=live, as_json=as_json))
