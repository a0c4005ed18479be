"""The command `doctor`: its words; what it does is imported when it is called."""

from importlib import import_module

import typer

from slipway.clone import CLUSTERS, module_of_clone
from slipway.options import LOCAL, Json, Key, SettingsFile, Url

app = typer.Typer()


@app.command(short_help="Report what does not work here, with the remedy.")
def doctor(as_json: Json = False, url: Url = LOCAL, key: Key = "", settings: SettingsFile = None) -> None:
    """Report what is installed, reachable and misconfigured, with the remedy; exit code 1 for a failure.

    It looks at this machine, the profiles, the environment, the settings, and the deployment with its
    clusters; in a clone also at what the local stack needs. It changes nothing, and shows no key.
    """
    command = import_module("slipway.commands.doctor.doctor")
    more = module_of_clone("slipway.stack.local_checks").CHECKS if CLUSTERS else ()
    raise typer.Exit(command.run(command.Options(url, key, settings), more, as_json=as_json))
