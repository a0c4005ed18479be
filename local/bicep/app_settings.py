"""Checks that the app's settings refer to this deployment's storage, identity and vault."""

from __future__ import annotations

from collections.abc import Iterator

from local.bicep.resolve import member_at, options, shown
from local.bicep.rules import MADE_OF, NAMED, SETTINGS
from local.bicep.template import Resource, Value

_SETTINGS = "Microsoft.Web/sites/config"


def led_astray(resource: Resource) -> Iterator[tuple[Value, str]]:
    """Settings that refer elsewhere, and expressions that add settings which cannot be read here."""
    if resource.type.partition("@")[0] != _SETTINGS:
        return
    properties = member_at(resource.body, "properties") or resource.body
    for option in options(properties):
        text = " ".join(option.text.split())
        if option.kind != "object" and text not in MADE_OF:
            yield option, f"{resource.symbol}: settings of {text[:50]!r} cannot be read here"
        for name, value in option.members.items():
            if "@Microsoft.KeyVault(" in value.text:
                yield value, f"{name} refers to a vault; secrets.json says which setting is a secret"
            expected = next((text for end, text in SETTINGS.items() if name.endswith(end)), None)
            if expected is not None and shown(value) != expected:
                yield value, f"{name} is {expected}"
            if expected is None and name not in NAMED:
                yield value, f"{name} is not among the settings in local/bicep/rules.py"
