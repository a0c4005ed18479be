"""What reaches an API server: kubeconfigs, the service account of a pod, identities."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from shared.core.errors import Misconfigured
from shared.engines.kubernetes.wire.access import Access, from_kubeconfig, in_cluster
from shared.engines.kubernetes.wire.bearer import FileToken, aks_token, bearer_of

PEM = "-----BEGIN CERTIFICATE-----\n"


def kubeconfig(cluster: Any = None, user: Any = None, **members: Any) -> Any:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://host:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": "canary"} if user is None else user}],
        **members,
    }


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def test_a_kubeconfig_gives_address_authority_and_token_and_shows_none() -> None:
    access = from_kubeconfig(kubeconfig({"certificate-authority-data": packed(PEM)}), "K")

    assert (access.url, access.authority) == ("https://host:6443", PEM)
    assert await bearer_of(access).token() == "canary"
    assert "canary" not in repr(access) + repr(bearer_of(access))
    assert PEM not in repr(access)


def test_a_kubeconfig_may_have_a_certificate_or_no_user_at_all() -> None:
    user = {"client-certificate-data": packed(PEM), "client-key-data": packed("canary")}
    access = from_kubeconfig(kubeconfig(user=user), "K")
    contexts = [{"name": "c", "context": {"cluster": "k"}}]

    assert (access.certificate, access.key, access.token) == (PEM, "canary", "")
    assert "canary" not in repr(access)
    assert from_kubeconfig(kubeconfig(contexts=contexts), "K").token == ""


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("apiVersion: v1", "kubectl config view"),
        ({}, "current-context"),
        (kubeconfig(contexts=[]), "contexts does not list 'c'"),
        (kubeconfig(clusters=None), "clusters does not list 'k'"),
        (kubeconfig(users=[{"name": "u"}]), "users does not list 'u'"),
        (kubeconfig({"server": "http://host"}), "use https"),
        (kubeconfig({"server": "host:6443"}), "address of an API server"),
        (kubeconfig({"server": "https://[::1"}), "address of an API server"),
        (kubeconfig({"server": "https://me:canary@host"}), "address of an API server"),
        (kubeconfig({"insecure-skip-tls-verify": True}), "certificate-authority-data"),
        (kubeconfig({"certificate-authority": "/etc/ca"}), "is a file"),
        (kubeconfig({"certificate-authority-data": "canary!"}), "not base64"),
        (kubeconfig(user={"exec": {"command": "kubelogin", "env": ["canary"]}}), "service account"),
        (kubeconfig(user={"auth-provider": {}}), "service account"),
    ],
)
def test_a_kubeconfig_that_does_not_do_says_why_and_how_to_mend_it(document: Any, words: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        from_kubeconfig(document, "SLIPWAY_KUBECONFIGS: gpu")

    assert str(caught.value).startswith("SLIPWAY_KUBECONFIGS: gpu")
    assert words in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_certificate_that_is_none_is_named_and_plain_http_needs_none() -> None:
    with pytest.raises(Misconfigured, match="cannot be read"):
        Access("https://host", authority="no PEM").tls()
    with pytest.raises(Misconfigured, match="cannot be read"):
        Access("https://host", certificate=PEM, key="canary").tls()
    assert Access("http://127.0.0.1:8080").tls() is None


async def test_a_pod_has_the_token_of_its_service_account(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text(PEM)
    (tmp_path / "token").write_text("one\n")
    access = in_cluster(tmp_path)
    now = [0.0]
    token = FileToken(access.token_file, lambda: now[0])

    assert (access.url, access.authority) == ("https://kubernetes.default.svc", PEM)
    assert await bearer_of(access).token() == await token.token() == "one"
    (tmp_path / "token").write_text("two")
    assert await token.token() == "one"
    now[0] = 61.0
    assert await token.token() == "two", "the cluster replaces it"


async def test_where_there_is_no_pod_or_no_token_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"does not run in a pod.*automountServiceAccountToken"):
        in_cluster(tmp_path)
    with pytest.raises(Misconfigured, match="cannot be read"):
        await FileToken(str(tmp_path / "none")).token()


class Credential:
    """Gives tokens that end after an hour, until it fails."""

    def __init__(self) -> None:
        self.scopes: list[str] = []
        self.fails = self.closed = False
        self.now = 0.0

    async def get_token(self, scope: str) -> AccessToken:
        if self.fails:
            raise ClientAuthenticationError("canary")
        self.scopes.append(scope)
        return AccessToken(f"t{len(self.scopes)}", int(self.now) + 3600)

    async def close(self) -> None:
        self.closed = True


async def test_an_identity_has_a_token_of_aks_which_is_renewed_before_its_end() -> None:
    credential = Credential()
    token = aks_token("", credential, lambda: credential.now)

    assert [await token.token(), await token.token()] == ["t1", "t1"]
    assert credential.scopes == ["6dae42f8-4368-4678-94ff-3960e28e3630/.default"]
    credential.now = 3400.0
    assert await token.token() == "t2"
    credential.now, credential.fails = 6800.0, True
    assert await token.token() == "t2", "it is still valid"
    credential.now = 7100.0
    with pytest.raises(Misconfigured, match="az login") as caught:
        await token.token()
    assert "canary" not in str(caught.value)
    await token.close()
    assert credential.closed
