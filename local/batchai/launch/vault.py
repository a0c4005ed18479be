"""Resolves Key Vault references from a file of this machine. No vault is ever called."""

from pathlib import Path
from typing import Any

from local.nodes.fault import Failed, Fault
from local.nodes.settings import SettingsError, table

_REFERENCE = "SecretReference"


class MissingSecret(Failed):
    """A secret that is referred to is not in the file."""


class Vault:
    """The secrets of a file by their addresses. It is read at each use, so it can be changed at any time."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def resolved(self, document: Any) -> Any:
        """A copy with the value `x` in the place of each `xSecretReference`. Raises MissingSecret."""
        if isinstance(document, list):
            return [self.resolved(entry) for entry in document]
        if not isinstance(document, dict):
            return document
        values = {}
        for name, entry in document.items():
            if name.endswith(_REFERENCE):
                values[name.removesuffix(_REFERENCE)] = self._secret(entry["secretUrl"])
            else:
                values[name] = self.resolved(entry)
        return values

    def _secret(self, url: str) -> str:
        if self._file is None:
            raise _missing_secret(
                url, "Start the emulator with --secrets-file FILE, a JSON object of addresses and values"
            )
        try:
            secrets = {_key(name): value for name, value in table(self._file).items()}
        except SettingsError as error:
            raise _missing_secret(url, str(error)) from error
        if _key(url) not in secrets:
            raise _missing_secret(url, f"Add it to {self._file}, a JSON object of addresses and values")
        return secrets[_key(url)]


def _key(url: str) -> str:
    """Names of vaults and of secrets do not depend on case."""
    return url.rstrip("/").lower()


def _missing_secret(url: str, remedy: str) -> MissingSecret:
    message = f"There is no secret {url} here. {remedy}"
    return MissingSecret(Fault(code="KeyVaultSecretNotFound", message=message))
