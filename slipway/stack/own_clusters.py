"""`slipway up --settings FILE`: the settings of a person's own clusters, checked before anything starts."""

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.adapters.ssh_certificates import certificates_of
from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.settings import TABLE, Settings
from slipway.failure import Failure
from slipway.settings import document
from slipway.stack.shell_settings import check_keys

_FORMAT = 'settings, {"NAME": "text"} or {"Values": {"NAME": "text"}},'
#: Settings of the Functions host; they do not matter here, and are in every local.settings.json.
_HOST = re.compile(r"FUNCTIONS_\w+|AzureWebJobs\w+|WEBSITE_\w+|APPLICATIONINSIGHTS_\w+|LOCAL_HOST_\w+")
#: The stack has a storage account of its own.
_STORAGE = re.compile(r"AzureWebJobsStorage\w*|SLIPWAY_STORAGE\w*")
_LOCAL_STORAGE = "UseDevelopmentStorage=true"


def own_clusters(file: Path) -> dict[str, str]:
    """The settings in a file, for an app on this machine. Raises Failure, which never shows a value."""
    content = document(file, _FORMAT)
    if content.get("IsEncrypted") is True:
        raise Failure(f"{file}: is encrypted; `func settings decrypt` decrypts it")
    values = content.get("Values", content)
    if not isinstance(values, dict):
        raise Failure(f'{file}: "Values" has to be an object')
    settings = {
        name: text
        for name, value in values.items()
        if _counts(name, text := _text(file, name, value)) and _is_setting(file, name, text)
    }
    _check(file, settings)
    return settings


def _counts(name: str, text: str) -> bool:
    """Whether a setting is set: an empty one means its default, unless that is refused."""
    return bool(text) or (name in TABLE and bool(TABLE[name].if_empty))


def _text(file: Path, name: str, value: Any) -> str:
    """The value as a setting's text; JSON may be written as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list | int | float):
        return json.dumps(value)
    raise Failure(f"{file}: the value of {name} does not suit a setting")


def _is_setting(file: Path, name: str, value: str) -> bool:
    """Whether the app gets it. Raises Failure for an unknown setting, and for another storage account."""
    if _STORAGE.fullmatch(name):
        if value != _LOCAL_STORAGE:
            raise Failure(
                f"{file}: {name}: the stack keeps its own storage; remove it here, or run a deployment"
            )
        return False
    if name not in TABLE and not _HOST.fullmatch(name):
        near = difflib.get_close_matches(name, TABLE, 1, 0.6)
        raise Failure(
            f"{file}: {name[:80]!r} is not a setting" + (f"; did you mean {near[0]}?" if near else "")
        )
    return True


def _check(file: Path, values: Mapping[str, str]) -> None:
    settings = Settings(values)
    try:
        settings.check()
        check_keys(settings)
        certificates_of(settings.text("SLIPWAY_ENTER_CA"))
        engines = ConfiguredEngines(settings)
    except Misconfigured as error:
        raise Failure(f"{file}: {error}") from error
    for name, why in engines.faults().items():
        raise Failure(f"{file}: no job can run on the cluster {name}: {why}")
