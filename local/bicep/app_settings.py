"""Checks that the app's settings are complete, and refer to this deployment's storage, identity and vault."""

from __future__ import annotations

from collections.abc import Iterator

from local.bicep.resolve import member_at, options, shown
from local.bicep.rules import MADE_OF, SETTINGS
from local.bicep.template import Resource, Value

_SETTINGS = "Microsoft.Web/sites/config"


def led_astray(resource: Resource) -> Iterator[tuple[Value, str]]:
    """Settings that refer elsewhere or are missing, and expressions that cannot be read here."""
    if resource.type.partition("@")[0] != _SETTINGS:
        return
    properties = member_at(resource.body, "properties") or resource.body
    names: set[str] = set()
    for option in options(properties):
        text = " ".join(option.text.split())
        names |= option.members.keys()
        if option.kind != "object" and text not in MADE_OF:
            yield option, f"{resource.symbol}: settings of {text[:50]!r} cannot be read here"
        for name, value in option.members.items():
            if "@Microsoft.KeyVault(" in value.text:
                yield value, f"{name} refers to a vault; secrets.json says which setting is a secret"
            if name not in SETTINGS:
                yield value, f"{name} is not among the settings in local/bicep/rules.py"
            elif shown(value) != SETTINGS[name]:
                yield value, f"{name} is {SETTINGS[name]}"
    for name in sorted(SETTINGS.keys() - names):
        yield properties, f"{name} is missing"
