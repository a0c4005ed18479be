"""How the text of a setting is read, by the kind that the table gives it. An error names the setting."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from shared.core.account import (
    CONTAINER_RULE,
    TABLE_RULE,
    is_container,
    is_table,
)
from shared.core.errors import Misconfigured
from shared.core.notify.schedule import durations
from shared.jobspec import parse_duration
from shared.setting_table import LONGEST_DAYS, Setting
from shared.setting_table.crontab import crontab_flaw

#: Kinds whose white space counts: for the line and column of an error, or as a list of nothing. Around others
#: it is left out, such as the line break of a file, as `functions.bindings` does for the host.
_AS_WRITTEN = ("document", "objects", "table", "names", "containers", "ports", "durations")
#: What people write; Python takes more, such as 1_000 and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Values:
    """The texts of the settings; each is checked for its kind when it is read."""

    values: Mapping[str, str] = field(repr=False)
    #: the table that gives their kinds
    known_settings: Mapping[str, Setting] = field(repr=False)

    def value(self, name: str) -> Any:
        """A setting as its kind."""
        return getattr(self, self.known_settings[name].kind)(name)

    def text(self, name: str) -> str:
        """A setting as it is written; its default where it is unset, or empty and that is allowed."""
        value, setting = self.values.get(name, ""), self.known_settings[name]
        if setting.if_empty and name in self.values and not value.strip():
            raise Misconfigured(f"{name} is empty: {setting.if_empty}")
        if value.startswith("@Microsoft.KeyVault("):
            raise Misconfigured(
                f"{name} is an unresolved Key Vault reference: check the identity's role on the vault"
            )
        return (value if setting.kind in _AS_WRITTEN else value.strip()) or setting.default

    def number(self, name: str) -> float:
        """A number within its bounds."""
        text, (least, most) = self.text(name), self.known_settings[name].limits
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not least <= value <= most:
            raise Misconfigured(f"{name} must be a number from {least:g} to {most:.0f}, not {text[:40]!r}")
        check = self.known_settings[name].check
        if check and (flaw := check(value)):
            raise Misconfigured(f"{name} is {value:g}: {flaw}")
        return value

    def whole(self, name: str) -> int:
        """A setting that is a whole number within its bounds."""
        value = self.number(name)
        if not value.is_integer():
            raise Misconfigured(f"{name} must be a whole number, not {self.text(name)[:40]!r}")
        return int(value)

    def ports(self, name: str) -> frozenset[int]:
        """Port numbers separated by commas."""
        words, (least, most) = self.names(name), self.known_settings[name].limits
        if not all(word.isascii() and word.isdigit() and least <= int(word) <= most for word in words):
            raise Misconfigured(
                f"{name} must be port numbers from {least:g} to {most:g}, separated by commas"
            )
        return frozenset(int(word) for word in words)

    def objects(self, name: str) -> tuple[dict[str, Any], ...]:
        """A JSON list of objects."""
        document = self.document(name)
        if not isinstance(document, list) or not all(isinstance(one, dict) for one in document):
            raise Misconfigured(f"{name} must be a JSON list of objects")
        return tuple(document)

    def seconds(self, name: str) -> float:
        """A setting that is a duration in seconds."""
        return self.number(name)

    def minutes(self, name: str) -> float:
        """A setting that is a duration in minutes; in seconds."""
        return self.number(name) * 60

    def hours(self, name: str) -> timedelta:
        """A setting that is a number of hours."""
        return timedelta(hours=self.number(name))

    def days(self, name: str) -> timedelta:
        """A setting that is a number of days."""
        return timedelta(days=self.number(name))

    def flag(self, name: str) -> bool:
        """A setting that is true or false."""
        text = self.text(name).lower()
        if text not in ("true", "false", "1", "0"):
            raise Misconfigured(f"{name} must be true or false, not {text!r}")
        return text in ("true", "1")

    def choice(self, name: str) -> str:
        """One of its words, in any case; as the table writes it."""
        text, words = self.text(name), self.known_settings[name].words
        for word in words:
            if word.lower() == text.lower():
                return word
        raise Misconfigured(f"{name} must be one of {', '.join(words)}, not {text[:40]!r}")

    def names(self, name: str) -> tuple[str, ...]:
        """A setting that is a list of words separated by commas."""
        return tuple(word.strip() for word in self.text(name).split(",") if word.strip())

    def container(self, name: str) -> str:
        """The name of a container."""
        return self._named(name, self.text(name))

    def containers(self, name: str) -> tuple[str, ...]:
        """Names of containers, separated by commas."""
        return tuple(self._named(name, one) for one in self.names(name))

    def _named(self, name: str, container: str) -> str:
        if not is_container(container):
            raise Misconfigured(f"{name} must name a container, {CONTAINER_RULE}, not {container[:80]!r}")
        return container

    def ledger(self, name: str) -> str:
        """The name of a table in storage."""
        text = self.text(name)
        if not is_table(text):
            raise Misconfigured(f"{name} must name a table, {TABLE_RULE}, not {text[:80]!r}")
        return text

    def crontab(self, name: str) -> str:
        """The times of a timer."""
        if flaw := crontab_flaw(self.text(name), self.values.get("WEBSITE_SKU", "")):
            raise Misconfigured(f"{name}: {flaw}")
        return self.text(name)

    def duration(self, name: str) -> timedelta:
        """A length of time, as ISO 8601 writes it."""
        length = parse_duration(self.text(name))
        if length is None or length > timedelta(days=LONGEST_DAYS):
            what = f"an ISO 8601 duration of at most {LONGEST_DAYS:,} days, such as PT30M"
            raise Misconfigured(f"{name} must be {what}, not {self.text(name)[:40]!r}")
        return length

    def durations(self, name: str) -> tuple[float, ...]:
        """Durations separated by commas, as 90s, 5m, 2h or 1d; in seconds."""
        try:
            return durations(self.text(name))
        except ValueError as error:
            raise Misconfigured(f"{name}: {error}") from None

    def document(self, name: str) -> Any:
        """A JSON value; an error says where it ends to be one, and never shows it."""
        try:
            return json.loads(self.text(name))
        except json.JSONDecodeError as error:
            reason = error.msg.partition(":")[0].removesuffix(" at").removesuffix(" starting")
            place = f"line {error.lineno}, column {error.colno}"
            raise Misconfigured(f"{name} is not JSON: {place}: {reason[:1].lower()}{reason[1:]}") from None
        except (ValueError, RecursionError):  # a number of thousands of digits; thousands of brackets
            raise Misconfigured(f"{name} is not JSON that can be read: it holds too much") from None

    def address(self, name: str) -> str:
        """An https address, or ""."""
        text = self.text(name)
        if text and not text.startswith(("https://", "http://")):
            raise Misconfigured(f"{name} must be an address that starts with https://, not {text!r}")
        return text

    def table(self, name: str) -> dict[str, dict[str, Any]]:
        """A JSON object of objects; empty where it is not set."""
        if not self.text(name).strip():
            return {}
        document = self.document(name)
        if not isinstance(document, dict):
            raise Misconfigured(f"{name} must be an object: name of a cluster → its options")
        for one, options in document.items():
            if not isinstance(options, dict):
                raise Misconfigured(f"{name}: {one} must be an object of options")
        return document
