"""Which deployment a command talks to: by options, else the environment, the profile, the local stack."""

import os
from dataclasses import dataclass, field

from slipway.client.profiles import Profile, file_of, read_profiles
from slipway.failure import Failure
from slipway.settings import local_url

#: The name of the profile, instead of the current one.
PROFILE = "SLIPWAY_PROFILE"


@dataclass(frozen=True)
class Target:
    """An address, and a function key or an access token for it; "" for neither."""

    url: str
    key: str = field(default="", repr=False)


async def target(url: str, key: str) -> Target:
    """From what options or the environment say; what they leave out is the profile's. Raises Failure.

    A profile's key goes to its own address only.
    """
    if url:
        return Target(url.rstrip("/"), key)
    profile = chosen_profile()
    if profile is None:
        return Target(local_url().rstrip("/"), key)
    return Target(profile.url, key or await _key_of(profile))


def chosen_profile() -> Profile | None:
    """The profile that is named, else the current one; None without any. Raises Failure."""
    return read_profiles(file_of(os.environ)).chosen(os.environ.get(PROFILE, ""))


async def _key_of(profile: Profile) -> str:
    return await token(profile.scope) if profile.scope else profile.key


async def token(scope: str) -> str:
    """An access token of Entra ID for whoever is signed in here. Raises Failure."""
    from azure.core.exceptions import ClientAuthenticationError
    from azure.identity.aio import DefaultAzureCredential

    async with DefaultAzureCredential() as credential:
        try:
            return (await credential.get_token(scope)).token
        except ClientAuthenticationError:
            raise Failure(f"Entra ID gives no token for {scope}; sign in by `az login`") from None
