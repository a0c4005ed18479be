"""The proxy by which an address is reached, as the environment says; never one for this machine itself."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

#: Hosts that are this machine.
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def proxy_for(url: str) -> str | None:
    """HTTPS_PROXY or HTTP_PROXY, by the address's scheme; None where it names none, or NO_PROXY the host."""
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
