"""Settings of an app: local.settings.json under the real environment, %NAME% in bindings, connections."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

#: Azurite's documented account, which `UseDevelopmentStorage=true` stands for.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_DEVELOPMENT = (("Blob", 10000), ("Queue", 10001), ("Table", 10002))
_NAME = re.compile(r"%([^%]+)%")


class SettingsError(ValueError):
    """A setting is missing or cannot be used; the message names it and the remedy."""


def read_settings(file: Path | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The worker's whole environment: the values of the file, under those that are really set."""
    values = _values(file) if file is not None else {}
    return {**values, **environment}


def resolve(text: str, settings: Mapping[str, str], where: str) -> str:
    """Replace each %NAME% by the setting; `where` names the binding in the error."""

    def value(match: re.Match[str]) -> str:
        text = settings.get(match[1])
        if text is None:
            raise SettingsError(f"{where}: the setting {match[1]} is not set; add it to local.settings.json")
        return text

    return _NAME.sub(value, text)


def connection_string(name: str, settings: Mapping[str, str], where: str) -> str:
    """The storage connection string behind a binding's `connection`, as the Functions host looks it up.

    A setting of that name or with the prefix AzureWebJobs; or NAME__blobServiceUri and its sisters, for
    the local emulator's account only: identities are not signed in here.
    """
    name = name or "AzureWebJobsStorage"
    for candidate in (f"AzureWebJobs{name}", name):
        if value := settings.get(candidate):
            return _development() if value.strip().rstrip(";") == "UseDevelopmentStorage=true" else value
        if value := _by_addresses(candidate, settings, where):
            return value
    raise SettingsError(
        f"{where}: the storage connection {name} is not set; add it to local.settings.json, "
        "e.g. UseDevelopmentStorage=true for Azurite on its usual ports"
    )


def is_disabled(function: str, settings: Mapping[str, str]) -> bool:
    """Whether AzureWebJobs.NAME.Disabled, or its form with underscores, is true; names in any case."""
    names = (f"azurewebjobs.{function}.disabled".lower(), f"azurewebjobs_{function}_disabled".lower())
    return any(
        name.lower() in names and text.strip().lower() in ("true", "1") for name, text in settings.items()
    )


def _values(file: Path) -> dict[str, str]:
    try:
        document = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"{file}: not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("Values", {}), dict):
        raise SettingsError(f'{file}: expected {{"Values": {{"NAME": "text", …}}}}')
    if document.get("IsEncrypted"):
        raise SettingsError(f"{file}: is encrypted; run `func settings decrypt` where it was made")
    values = document.get("Values", {})
    for name, value in values.items():
        if not isinstance(value, str):
            raise SettingsError(f"{file}: Values.{name} must be a text; put the value in quotes")
    return dict(values)


def _development() -> str:
    endpoints = ";".join(
        f"{service}Endpoint=http://127.0.0.1:{port}/{_ACCOUNT}" for service, port in _DEVELOPMENT
    )
    return f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_KEY};{endpoints};"


def _by_addresses(name: str, settings: Mapping[str, str], where: str) -> str | None:
    addresses = {
        service: settings[key].rstrip("/")
        for service, _ in _DEVELOPMENT
        if settings.get(key := f"{name}__{service.lower()}ServiceUri")
    }
    if not addresses:
        return None
    if any(urlsplit(address).path.strip("/") != _ACCOUNT for address in addresses.values()):
        raise SettingsError(
            f"{where}: {name}__…ServiceUri names an account by identity, which the local host cannot use; "
            f"set {name} to a connection string"
        )
    endpoints = ";".join(f"{service}Endpoint={address}" for service, address in addresses.items())
    return f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_KEY};{endpoints};"
