"""Functions that the host does not run because of a setting, while all others answer."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Those without which jobs arrive and go no further: the queue's door, and the sweeper.
SWEEPER = "sweeper"
NEEDED = ("accept_message", SWEEPER)
#: Those that no caller of the API starts, without `accept_drop`: events of drops usually come by the queue.
BY_EVENT = (
    *(*NEEDED, "deliver"),
    *("bury_message", "bury_drop", "bury_wake_up"),
)
#: The trigger of blobs, which works only where the host may scan a container or is sent events itself.
DROP = "accept_drop"
#: Those whose absence is a mistake; an operator may switch off others, such as the page.
EXPECTED = (*BY_EVENT, DROP)
_SCANS, _FLEX = "logsandcontainerscan", "flexconsumption"
_YES = ("true", "1")
#: The host's own setting for a function, also in the form that Linux takes.
_DISABLED = re.compile(r"AzureWebJobs([._])(\w+)\1Disabled", re.ASCII | re.IGNORECASE)


def functions_off(values: Mapping[str, str]) -> dict[str, str]:
    """Each function that the host does not run → the setting that is the cause, with the remedy.

    Not `accept_drop`, where drops come by the queue.
    """
    settings = {name.lower(): text.strip().lower() for name, text in values.items()}
    scans = settings.get("slipway_blob_source") == _SCANS
    off = {
        match[2].lower(): f"the setting {setting} disables {match[2].lower()}; remove it"
        for setting, text in values.items()
        if (match := _DISABLED.fullmatch(setting)) and text.strip().lower() in _YES
    }
    if not scans:
        off.pop(DROP, None)
    if scans and settings.get("website_sku") == _FLEX:
        off[DROP] = (
            f"SLIPWAY_BLOB_SOURCE is LogsAndContainerScan, and Flex Consumption does not scan: {DROP} "
            "does not run; remove the setting, and let Event Grid send its events to the queue jobs"
        )
    return off
