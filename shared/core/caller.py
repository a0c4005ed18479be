"""Who calls the API, and what they may do. Pure.

Roles are app roles of Entra. Without Entra the host checks function keys. If the deployment names them,
each key is one caller; otherwise the holder of any key may do everything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from shared.core.errors import Misuse

#: Submit jobs, and see and cancel one's own.
SUBMIT = "Jobs.Submit"
#: See the jobs of every caller and of every door.
READ_ALL = "Jobs.Read.All"
#: Everything: cancel the jobs of others, pause, audit.
ADMIN = "Jobs.Admin"
ROLES = frozenset({SUBMIT, READ_ALL, ADMIN})


class HasOwner(Protocol):
    """A job, or a job sweep: who sent it, and for which team."""

    @property
    def source(self) -> str: ...  # noqa: D102

    @property
    def team(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Caller:
    """One caller; `id` is "" for a holder of a function key without a name."""

    id: str = ""
    roles: frozenset[str] = ROLES
    #: the object ids of the groups, and all app roles, that the token names
    groups: frozenset[str] = frozenset()
    app_roles: frozenset[str] = frozenset()
    #: the name of their key, which is their `id` as well; "" for a caller with a token
    key: str = ""
    #: their teams, in the order of the document of teams; True where they manage one
    teams: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        """What records say of who did something."""
        return self.id or "the holder of a function key"

    @property
    def source(self) -> str:
        """The caller as a source of jobs; prefixes their idempotency keys."""
        return f"http:{self.id}"

    @property
    def sees_all(self) -> bool:
        """Whether they may see the jobs of others."""
        return bool(self.roles & {READ_ALL, ADMIN})

    def sees(self, job: HasOwner) -> bool:
        """Whether they may see a job, or a job sweep: their own, one of their teams, or any."""
        return self.sees_all or job.source == self.source or job.team in self.teams

    def acts_for(self, team: str) -> bool:
        """Whether they may submit for a team, and so use its secrets."""
        return ADMIN in self.roles or team in self.teams

    def needs(self, *roles: str) -> None:
        """Raise Misuse (403) unless they have one of these roles; an administrator has them all."""
        if not self.roles & {*roles, ADMIN}:
            raise Misuse(
                f"this needs the role {' or '.join(sorted({*roles, ADMIN}))}",
                status=403,
                remedy="ask the operator of this deployment for it",
            )

    def may_change(self, job: HasOwner) -> None:
        """Raise Misuse (403) unless a job that they see is theirs, or of a team that they manage."""
        if job.source != self.source and not self.teams.get(job.team) and ADMIN not in self.roles:
            raise Misuse(
                f"this is for its owner, for managers of its team, and for callers with the role {ADMIN}",
                status=403,
                remedy="ask one of them",
            )


@dataclass(frozen=True)
class SignIn:
    """Where a browser signs people in (OAuth 2.0, code with PKCE), for which application and scope."""

    #: scheme and host of both addresses
    origin: str
    authorize: str
    token: str
    issuer: str
    client: str
    scope: str


def owner_of(job: HasOwner) -> str:
    """The id of the caller who sent the request; "" for a function key without a name, and other doors."""
    kind, _, caller = job.source.partition(":")
    return caller if kind == "http" else ""


#: The holder of a function key.
KEY_HOLDER = Caller()


#: As an id a key's name stands in sources of jobs, and in addresses of lists.
KEY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)
KEY_NAME_RULE = "up to 64 letters, digits, dots, @, - and _, and begins with a letter or digit"


def digest_of(key: str) -> str:
    """The hash that a deployment keeps of a named key, in hexadecimal digits. Keys are random."""
    return hashlib.sha256(key.encode(errors="backslashreplace")).hexdigest()


class Tokens(Protocol):
    """The check of access tokens."""

    @property
    def sign_in(self) -> SignIn | None:
        """Where a browser gets one; None if the settings name no application by its id."""

    async def verify(self, token: str) -> Caller:
        """Its caller. Raises Misuse (401, 403), and Unavailable if it cannot be checked now."""


class NamedKeys(Protocol):
    """The named keys of the deployment."""

    def holder(self, key: str) -> Caller:
        """Its holder. Raises Misuse: 401 without a key, 403 for a key without a name."""
