"""What is made from the table of settings: docs/reference/settings.md and local.settings.example.json.

`python -m slipway.settings_page` writes both; a test compares.
"""

from __future__ import annotations

import json
from pathlib import Path

from shared.setting_table import GROUPS, SETTINGS, Setting

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "settings.md"
EXAMPLE = ROOT / "local.settings.example.json"

_HEAD = """# Settings

This page is generated: `python -m slipway.settings_page`.

Every setting is an application setting of the function app, which is an environment variable. A wrong value
stops the app at its first event, with a message that names the setting; a name that is not a setting is a
warning in the log. The Functions host also needs `AzureWebJobsStorage`, which may be the same account.
"""


def page() -> str:
    """The whole page, in Markdown."""
    return _HEAD + "".join(_section(group, title) for group, title in GROUPS.items())


def _section(group: str, title: str) -> str:
    rows = [_row(name, setting) for name, setting in SETTINGS.items() if setting.group == group]
    return "\n".join([f"\n## {title}\n", "| setting | default | what it is |", "|---|---|---|", *rows, ""])


def _row(name: str, setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default else ""
    return f"| `{name}` | {default} | {setting.about} |"


def example() -> str:
    """The example file: the values of the local stack."""
    values = {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "python"}
    values |= {name: one.default if one.example is None else one.example for name, one in SETTINGS.items()}
    return (
        json.dumps({"IsEncrypted": False, "Values": values, "Host": {"LocalHttpPort": 7071}}, indent=2) + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
