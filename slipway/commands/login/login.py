"""`slipway login` and `slipway logout`: the deployments that a person works with."""

import asyncio
import os
import sys
from getpass import getpass
from typing import NamedTuple
from urllib.parse import urlsplit

from slipway.client.deployment import LOOPBACK, PROFILE, refuse_credentials, token, without_api
from slipway.client.profiles import Profile, file_of, read_profiles, write_profiles
from slipway.client.service import Service, service
from slipway.commands.asking import show
from slipway.failure import UNKNOWN, Failure

#: Characters of a key that are read.
_LONGEST = 8192


def login(url: str, name: str, scope: str, *, as_json: bool = False) -> int:
    """Try the address and the key, and store both. Raises Failure if the service refuses them."""
    address, host = _address(url)
    key = "" if scope else _key()
    if urlsplit(address).scheme == "http" and host not in LOOPBACK and (key or scope):
        raise Failure("plain http would show the key to others on the way; give an https address")
    asyncio.run(_try(address, key, scope))
    file = file_of(os.environ)
    write_profiles(file, read_profiles(file).with_profile(name or host, Profile(address, key, scope)))
    done = {"url": address, "profile": name or host}
    show(done, lambda _: [f"logged in to {address}; it is the profile {name or host}"], as_json=as_json)
    return 0


def logout(name: str, *, as_json: bool = False) -> int:
    """Forget a profile with its key. Raises Failure when there is none."""
    file = file_of(os.environ)
    profiles = read_profiles(file)
    chosen = name or os.environ.get(PROFILE, "") or profiles.current
    if profiles.chosen(chosen) is None:
        raise Failure("no profile is logged in", UNKNOWN)
    write_profiles(file, profiles.without_profile(chosen))
    show({"profile": chosen}, lambda _: [f"forgot the profile {chosen}"], as_json=as_json)
    return 0


async def _try(url: str, key: str, scope: str) -> None:
    async with service(url, key or (await token(scope) if scope else "")) as api:
        await _ask(api)


async def _ask(api: Service) -> None:
    await api.jobs(limit=1)


class _Address(NamedTuple):
    """An address as it is kept, and its host."""

    url: str
    host: str


def _address(url: str) -> _Address:
    """Read the address of a deployment, or of its page. Raises Failure for one that may hold a key."""
    url = without_api(url)
    refuse_credentials(url)
    try:
        parts = urlsplit(url)
    except ValueError:  # as of a [ without its end
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Failure("the address is to have the form https://HOST")
    return _Address(url.rstrip("/"), parts.hostname)


def _key() -> str:
    """From a terminal without showing it, else a line of standard input; "" for a deployment without keys."""
    if sys.stdin.isatty():
        return getpass("function key (empty for none): ").strip()
    return sys.stdin.readline(_LONGEST).strip()
