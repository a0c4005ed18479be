"""Function keys: who may call what, when authorisation is switched on."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from local.host.settings import SettingsError

#: Settings that hold the keys.
FUNCTION_KEY = "LOCAL_HOST_FUNCTION_KEY"
MASTER_KEY = "LOCAL_HOST_MASTER_KEY"
#: The system key blobs_extension, for the events of blob triggers; the master key is one for them, too.
BLOBS_KEY = "LOCAL_HOST_BLOBS_KEY"
#: SHA-256 of each key that opens the host's own API, comma separated; for apps that check their callers.
ADMIN_KEYS = "LOCAL_HOST_ADMIN_KEYS"
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The function key and the master key; `enabled` False lets requests in, like `func start`.

    `admins`: the hashes of the keys that the host's own API needs even then; None: it needs none.
    """

    enabled: bool
    function: str = ""
    master: str = ""
    blobs: str = ""
    admins: frozenset[str] | None = None

    def __repr__(self) -> str:
        return f"Keys(enabled={self.enabled})"

    def admits(self, request: web.Request, level: str) -> bool:
        """Whether a request may use an endpoint of this level: anonymous, function, blobs or admin."""
        request_key = key_of(request)
        if not self.enabled and level in ("admin", "blobs") and self.admins is not None:
            return hashlib.sha256(request_key.encode()).hexdigest() in self.admins
        if not self.enabled or level == "anonymous":
            return True
        accepted = {"admin": (), "blobs": (self.blobs,)}.get(level, (self.function,))
        return _is_one_of(request_key, *accepted, self.master)

    def is_master(self, request: web.Request) -> bool:
        """Whether a request brings the master key, where keys are asked for."""
        return self.enabled and _is_one_of(key_of(request), self.master)


def _is_one_of(request_key: str, *keys: str) -> bool:
    return any(key and hmac.compare_digest(request_key.encode(), key.encode()) for key in keys)


def key_of(request: web.Request) -> str:
    """The key that a request brings: its header, even an empty one, or `code` in any case."""
    codes = (value for name, value in request.query.items() if name.lower() == "code")
    key = request.headers.get("x-functions-key")
    return str(next(codes, "") if key is None else key).strip()


def read_keys(settings: Mapping[str, str], *, enabled: bool) -> Keys:
    """The keys from the settings; raises SettingsError when they are needed and absent."""
    if not enabled:
        return Keys(enabled=False, admins=_admins(settings))
    function, master = settings.get(FUNCTION_KEY, ""), settings.get(MASTER_KEY, "")
    if not function or not master:
        raise SettingsError(f"--enable-auth needs the settings {FUNCTION_KEY} and {MASTER_KEY}")
    return Keys(enabled=True, function=function, master=master, blobs=settings.get(BLOBS_KEY, ""))


def _admins(settings: Mapping[str, str]) -> frozenset[str] | None:
    if (text := settings.get(ADMIN_KEYS)) is None:
        return None
    digests = frozenset(part for part in text.split(",") if part)
    if not all(map(_DIGEST.fullmatch, digests)):
        raise SettingsError(f"{ADMIN_KEYS} has to be SHA-256 hashes in hexadecimal, comma separated")
    return digests
