"""What a certificate says, which lets one person into one job by a login node. Pure.

sshd there decides by it alone, so each text has a strict form: it means nothing to a shell, and nothing else
to sshd. A session begins within minutes, and then goes on for as long as the job.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from shared.core.relations.entrance import HOST, ID, USER

#: What a certificate may let a person start: words that mean nothing to a shell.
GATE = re.compile(rf"slipway-enter [1-9][0-9]{{0,9}} {HOST} {ID}", re.ASCII)
#: The only kind of key that is signed, as ssh writes it, without a remark.
PUBLIC_KEY = re.compile(r"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}", re.ASCII)
#: Who it is for, and for what: names of keys, ids of tokens and of jobs.
_KEY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127} j_[a-z0-9]{24}\.[0-9]{1,9}\.[0-9]{1,9}", re.ASCII)
#: A session begins within minutes, and goes on as long as the job; the clock of the login node may be behind.
LIFE, SKEW = timedelta(minutes=5), timedelta(minutes=2)


@dataclass(frozen=True)
class EntryPermit:
    """What a certificate says. Raises ValueError for a text that sshd could read otherwise."""

    public_key: str
    user: str
    gate: str
    #: for the log of sshd: the person, and attempt and rank of the job
    key_id: str
    begin: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Compare each text with its form."""
        forms = {
            "public_key": PUBLIC_KEY,
            "user": re.compile(USER, re.ASCII),
            "gate": GATE,
            "key_id": _KEY_ID,
        }
        for name, form in forms.items():
            if not form.fullmatch(getattr(self, name)):
                raise ValueError(f"no certificate can say this: {name}")


@dataclass(frozen=True)
class Certificate:
    """A certificate for ssh, and its number, which the log of sshd has as well."""

    text: str
    serial: int


class Certificates(Protocol):
    """Signs certificates with the key of the deployment that does nothing else."""

    def sign(self, permit: EntryPermit) -> Certificate:
        """A certificate for what is permitted: a terminal, and no forwarding of anything."""
