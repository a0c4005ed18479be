"""The context of a person's kubeconfig that leads to the cluster of a job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slipway.client.entry.kubeconfig import context_of
from slipway.failure import Failure

SERVER = "https://gpu.example.org"


def view(current: str, **contexts: str) -> bytes:
    """What kubectl prints of a kubeconfig, whose contexts lead to these servers."""
    document: dict[str, Any] = {
        "clusters": [{"name": f"of-{name}", "cluster": {"server": url}} for name, url in contexts.items()],
        "contexts": [{"name": name, "context": {"cluster": f"of-{name}", "user": name}} for name in contexts],
        "current-context": current,
    }
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "url", [SERVER, f"{SERVER}/", f"{SERVER}:443", f"{SERVER}:443/", "https://GPU.example.org"]
)
def test_the_context_that_names_the_server_is_used_however_it_writes_it(url: str) -> None:
    assert context_of(view("other", other="https://10.0.0.1:6443", mine=url), SERVER) == "mine"


def test_the_current_one_is_used_where_it_is_among_them() -> None:
    assert context_of(view("b", a=SERVER, b=SERVER), SERVER) == ""
    assert context_of(view("c", a=SERVER, b=SERVER, c="https://x"), SERVER) == "a"


def test_an_address_that_only_pods_have_leaves_it_to_the_current_one() -> None:
    assert context_of(view("a", a=SERVER), "") == ""


@pytest.mark.parametrize(
    "url",
    [f"{SERVER}:6443", f"{SERVER}/other", "http://gpu.example.org", "https://gpu.example", "https://[", ""],
)
def test_without_one_no_credentials_go_anywhere(url: str) -> None:
    with pytest.raises(Failure, match=r"no context .* https://gpu\.example\.org, but to .*KUBECONFIG"):
        context_of(view("a", a=url), SERVER)


@pytest.mark.parametrize(
    "document",
    [
        {"clusters": None, "contexts": None, "current-context": ""},
        {"clusters": [{"name": "a"}], "contexts": [{"name": "a", "context": {}}]},
        {},
    ],
)
def test_a_kubeconfig_without_contexts_says_the_same(document: dict[str, Any]) -> None:
    with pytest.raises(Failure, match="but to none at all"):
        context_of(json.dumps(document).encode(), SERVER)


@pytest.mark.parametrize("printed", [b"", b"error: no", b"[]"])
def test_what_kubectl_cannot_read_is_named(printed: bytes) -> None:
    with pytest.raises(Failure, match="kubectl config view"):
        context_of(printed, SERVER)
