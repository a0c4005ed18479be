"""The few identity and subscription routes that `az login --service-principal` needs. Anyone may log in."""

import base64
import json
import time
from typing import Any

from aiohttp import web

from local.batchai.state import ids
from local.batchai.state.database import Store
from local.batchai.state.settings import Settings

TENANT = "00000000-0000-0000-0000-00000000aaaa"
_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
_DAY = 86400


class Login:
    """Tokens without content, and the existing subscriptions."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._only = settings.subscription

    def add_to(self, router: web.UrlDispatcher) -> None:
        """Register the routes of Entra ID, of tenants and of subscriptions."""
        router.add_get("/{tenant}/v2.0/.well-known/openid-configuration", self._configuration)
        router.add_post("/{tenant}/oauth2/v2.0/token", self._token)
        router.add_get("/tenants", self._tenants)
        router.add_get("/subscriptions", self._subscriptions)
        router.add_get("/subscriptions/{subscription}", self._subscription)
        router.add_get("/subscriptions/{subscription}/locations", self._locations)

    async def _configuration(self, request: web.Request) -> web.Response:
        ids.check(request.match_info)
        base = f"{request.scheme}://{request.host}/{request.match_info['tenant']}"
        return web.json_response(
            {
                "issuer": f"{base}/v2.0",
                "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
                "token_endpoint": f"{base}/oauth2/v2.0/token",
                "device_authorization_endpoint": f"{base}/oauth2/v2.0/devicecode",
                "jwks_uri": f"{base}/discovery/v2.0/keys",
            }
        )

    async def _token(self, request: web.Request) -> web.Response:
        ids.check(request.match_info)
        now = int(time.time())
        claims = {
            "aud": f"{request.scheme}://{request.host}",
            "iss": f"{request.scheme}://{request.host}/{TENANT}/v2.0",
            "iat": now,
            "nbf": now,
            "exp": now + _DAY,
            "tid": TENANT,
            "oid": TENANT,
            "sub": TENANT,
            "appid": "slipway",
            "idtyp": "app",
        }
        token = f"{_part({'alg': 'none', 'typ': 'JWT'})}.{_part(claims)}.{_part({})}"
        body = {"token_type": "Bearer", "expires_in": _DAY, "ext_expires_in": _DAY, "access_token": token}
        return web.json_response(body)

    async def _tenants(self, _: web.Request) -> web.Response:
        tenant = {"id": f"/tenants/{TENANT}", "tenantId": TENANT, "displayName": "This machine"}
        return web.json_response({"value": [tenant]})

    async def _subscriptions(self, _: web.Request) -> web.Response:
        used = {ids.names_in(workspace.id)[0] for workspace in self._store.workspaces}
        names = [self._only] if self._only else [_SUBSCRIPTION, *sorted(used - {_SUBSCRIPTION})]
        return web.json_response({"value": [_view(name) for name in names]})

    async def _subscription(self, request: web.Request) -> web.Response:
        ids.check(request.match_info)
        return web.json_response(_view(request.match_info["subscription"]))

    async def _locations(self, request: web.Request) -> web.Response:
        ids.check(request.match_info)
        name = request.match_info["subscription"]
        location = {
            "id": f"/subscriptions/{name}/locations/eastus",
            "name": "eastus",
            "displayName": "East US",
        }
        return web.json_response({"value": [location]})


def _view(subscription: str) -> dict[str, Any]:
    return {
        "id": f"/subscriptions/{subscription}",
        "subscriptionId": subscription,
        "tenantId": TENANT,
        "displayName": "Batch AI emulator",
        "state": "Enabled",
        "subscriptionPolicies": {"spendingLimit": "Off"},
        "authorizationSource": "RoleBased",
    }


def _part(claims: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
