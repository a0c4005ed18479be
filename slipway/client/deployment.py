"""Finds the deployment for a command: from options, else the environment, the profile or the local stack."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from slipway.client.profiles import Profile, file_of, read_profiles
from slipway.failure import NOT_ALLOWED, Failure
from slipway.settings import (
    SourcedSettings,
    file_of_stack,
    is_local,
    is_local_url,
    load,
    local_url,
    names_storage,
)

if TYPE_CHECKING:
    from shared.settings import Settings

#: The name of the profile, instead of the current one.
PROFILE = "SLIPWAY_PROFILE"
#: The address of the deployment; it takes precedence over a profile's.
URL = "SLIPWAY_URL"
#: Its function key, or an access token for it.
KEY = "SLIPWAY_KEY"
#: The page of a deployment, whose address a browser shows; what follows `#` is a place in it.
_PAGE = re.compile(r"(?<![/:])/+api/+ui(/+(index\.html)?)?(#.*)?\Z", re.DOTALL | re.IGNORECASE)
#: A token has three parts with dots between them; no function key does.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_API = re.compile(r"(?<![/:])/+api/*\Z", re.IGNORECASE)
#: The names of this machine.
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_NO_STORAGE = (
    "names no storage account, where files go; name it: --settings FILE, SLIPWAY_STORAGE, or "
    "(after `az login`) SLIPWAY_STORAGE__blobServiceUri, __queueServiceUri and __tableServiceUri"
)


class NoStorage(Failure):
    """The deployment is not the local stack, and no setting here names its storage account."""


@dataclass(frozen=True)
class Deployment:
    """An address, and a function key or an access token for it; "" for neither."""

    url: str
    key: str = field(default="", repr=False)


async def find_deployment(url: str, key: str) -> Deployment:
    """The deployment by options or the environment, completed from the profile. Raises Failure.

    A profile's key is sent to its own address only.
    """
    profile = None if url or key else chosen_profile()
    if profile is None or not profile.scope:
        return _without_token(url, key)
    refuse_credentials(profile.url)
    return Deployment(profile.url, await token(profile.scope))


def deployment_at_hand(url: str, key: str) -> Deployment | None:
    """The same where no access token has to be asked for first; None where one has. Raises Failure."""
    profile = None if url or key else chosen_profile()
    return _without_token(url, key) if profile is None or not profile.scope else None


def _without_token(url: str, key: str) -> Deployment:
    if url:
        url = without_page(url)
        refuse_credentials(url)
        return Deployment(url.rstrip("/"), key)
    profile = chosen_profile()
    if profile is None:
        return Deployment(local_url().rstrip("/"), key)
    refuse_credentials(profile.url)
    return Deployment(profile.url, key or profile.key)


def credentials(key: str) -> dict[str, str]:
    """The header with a function key or an access token; none for "". Raises Failure."""
    if not key:
        return {}
    if not key.isprintable():
        raise Failure("the key has control characters in it; give it with --key or SLIPWAY_KEY as it is")
    return {"Authorization": f"Bearer {key}"} if _TOKEN.fullmatch(key) else {"x-functions-key": key}


def settings_for(url: str, file: Path | None) -> Settings:
    """The settings that name the storage. Raises Failure if they belong to another deployment."""
    return sourced_settings(url, file).settings


def sourced_settings(url: str, file: Path | None) -> SourcedSettings:
    """The same with their source. Raises Failure if they belong to another deployment."""
    url = url or os.environ.get(URL, "")
    elsewhere = "" if file else _other_deployment(url)
    if file is None and not names_storage(os.environ):
        file = file_of_stack(url)
    try:
        result = load(file, os.environ)
    except Failure:
        if elsewhere:
            raise NoStorage(f"{elsewhere} {_NO_STORAGE}") from None
        raise
    if elsewhere and is_local(result.source):
        raise NoStorage(f"{elsewhere} {_NO_STORAGE}")
    return result


def _other_deployment(url: str) -> str:
    """What shows that the deployment is not the local stack; "" if nothing does."""
    if url:
        with suppress(ValueError):  # as of a [ without its end
            return "" if urlsplit(url).hostname in LOOPBACK else "the address of the app"
    profile = chosen_profile()
    return "the profile" if profile and not is_local_url(profile.url) else ""


def proxy_for(url: str) -> str | None:
    """HTTPS_PROXY or HTTP_PROXY, by the address's scheme; None without one, or if NO_PROXY names the host."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # as of a [ without its end
        return None
    if not host or host in LOOPBACK or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def without_page(url: str) -> str:
    """The address of a deployment, also for that of its page, in any case."""
    return _PAGE.sub("", url)


def without_api(url: str) -> str:
    """The same, also for the address of its API."""
    return _API.sub("", without_page(url))


def refuse_credentials(url: str) -> None:
    """Raise Failure for an address that may hold a key or a password: addresses are shown and kept."""
    before, _, after = url.partition("://")
    host = (after or before).partition("/")[0]
    if "@" in host or "?" in url or "#" in url:
        raise Failure("give the address alone, without a key in it; the key has a place of its own")


def chosen_profile() -> Profile | None:
    """The named profile, else the current one; None if there is none. Raises Failure."""
    return read_profiles(file_of(os.environ)).chosen(os.environ.get(PROFILE, ""))


async def token(scope: str) -> str:
    """An access token of Entra ID for the identity that is signed in on this machine. Raises Failure."""
    from azure.core.exceptions import ClientAuthenticationError
    from azure.identity.aio import DefaultAzureCredential

    from shared.connections.transport import Transport

    async with DefaultAzureCredential(transport=Transport()) as credential:
        try:
            return (await credential.get_token(scope)).token
        except ClientAuthenticationError as error:
            # Of all the errors, only the tenant's own answer shows the reason.
            code = re.search(r"AADSTS\d{4,8}(: [^.\r\n]{0,200})?", str(error), re.ASCII)
            reason = f" ({code[0]})" if code and code[0].isprintable() else ""
            raise Failure(
                f"Entra ID gives no token for {scope}{reason}; sign in by `az login`", NOT_ALLOWED
            ) from None
