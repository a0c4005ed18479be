"""What is made from the table of settings: docs/reference/settings.md and local.settings.example.json.

`python -m slipway.settings_page` writes both; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from shared.setting_table import BOUNDS, LARGEST, LONGEST_DAYS, Kind, Setting
from shared.settings import TABLE

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "settings.md"
EXAMPLE = ROOT / "local.settings.example.json"

#: Headings of the page, in its order.
GROUPS: Mapping[str, str] = {
    "first": "The ones that matter first",
    "clusters": "Clusters",
    "access": "Who may call",
    "webhooks": "Webhooks and receipts",
    "limits": "Limits",
    "timing": "Drops, the sweeper and retention",
    "storage": "Names in storage",
    "telemetry": "Logs, metrics and traces",
}

_HEAD = f"""# Settings

This page is generated: `python -m slipway.settings_page`.

Every setting is an application setting of the function app, which is an environment variable. A wrong value
stops the app at its first invocation, with a message that names the setting; a name that is not a setting is
a warning in the log. `slipway up` takes numbers, times, flags and `SLIPWAY_NAMED_KEYS` of its environment,
and says which.

The Functions host also needs `AzureWebJobsStorage`, which may be the same account.

No number is larger than {LARGEST:,.0f}, and no time longer than {LONGEST_DAYS:,} days. Commas
separate names, ports and durations.
"""

#: What people write for a value of each kind; of texts and JSON the sentence of the setting says more.
_KINDS: Mapping[Kind, str] = {
    "crontab": "six fields: second minute hour day month weekday",
    "text": "text",
    "number": "number",
    "whole": "whole number",
    "seconds": "seconds",
    "minutes": "minutes",
    "hours": "hours",
    "days": "days",
    "flag": "`true` or `false`",
    "names": "names",
    "ports": "ports",
    "duration": "ISO 8601 duration",
    "durations": "durations",
    "address": "URL",
    "document": "JSON",
    "objects": "JSON list of objects",
    "table": "JSON object of objects",
    "container": "name of a container",
    "containers": "names of containers",
    "ledger": "name of a table",
}


def page() -> str:
    """The whole page, in Markdown."""
    return _HEAD + "".join(_section(group, title) for group, title in GROUPS.items())


def _section(group: str, title: str) -> str:
    rows = [_row(name, setting) for name, setting in TABLE.items() if setting.group == group]
    return "\n".join(
        [f"\n## {title}\n", "| setting | value | default | what it is |", "|---|---|---|---|", *rows, ""]
    )


def _row(name: str, setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default else ""
    return f"| `{name}` | {_value(setting)} | {default} | {setting.about} |"


def _value(setting: Setting) -> str:
    """What the value may be, with its bounds; those of every number and every time stand at the head."""
    if setting.kind == "choice":
        return " or ".join(f"`{word}`" for word in setting.words)
    words = _KINDS[setting.kind]
    if setting.kind not in BOUNDS:
        return words
    least, most = setting.limits
    if setting.kind == "durations":
        return f"{words} from {least:g} s to {most / 86_400:g} d"
    usual = setting.kind != "ports" and most == BOUNDS[setting.kind].most
    return f"{words}, at least {least:g}" if usual else f"{words}, {least:g} to {most:g}"


def example() -> str:
    """The example file: the values of the local stack."""
    values = {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "python"}
    values |= {name: one.default if one.example is None else one.example for name, one in TABLE.items()}
    return (
        json.dumps({"IsEncrypted": False, "Values": values, "Host": {"LocalHttpPort": 7071}}, indent=2) + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
