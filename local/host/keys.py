"""Function keys: who may call what, when authorisation is switched on."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from local.host.settings import SettingsError

#: Settings that hold the keys.
FUNCTION_KEY = "LOCAL_HOST_FUNCTION_KEY"
MASTER_KEY = "LOCAL_HOST_MASTER_KEY"


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The function key and the master key; `enabled` False lets every request in, like `func start`."""

    enabled: bool
    function: str = ""
    master: str = ""

    def __repr__(self) -> str:
        return f"Keys(enabled={self.enabled})"

    def admits(self, request: web.Request, level: str) -> bool:
        """Whether a request may use an endpoint of this level: anonymous, function or admin."""
        if not self.enabled or level == "anonymous":
            return True
        request_key = request.headers.get("x-functions-key") or request.query.get("code", "")
        accepted = [self.master] if level == "admin" else [self.function, self.master]
        return any(hmac.compare_digest(request_key.encode(), key.encode()) for key in accepted)


def read_keys(settings: Mapping[str, str], *, enabled: bool) -> Keys:
    """The keys from the settings; raises SettingsError when they are needed and absent."""
    if not enabled:
        return Keys(enabled=False)
    function, master = settings.get(FUNCTION_KEY, ""), settings.get(MASTER_KEY, "")
    if not function or not master:
        raise SettingsError(f"--enable-auth needs the settings {FUNCTION_KEY} and {MASTER_KEY}")
    return Keys(enabled=True, function=function, master=master)
