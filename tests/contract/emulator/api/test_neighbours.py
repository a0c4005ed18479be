"""What the Azure CLI needs around Batch AI: https, a login, groups, the storage account."""

import base64
import json
import ssl

import aiohttp

from local.azurite import ACCOUNT, KEY
from tests.contract.emulator.conftest import CLUSTER, Lab, autoscale
from tests.contract.emulator.files.test_files import shares_of

S = "/subscriptions/sub"


async def test_the_same_is_served_over_https_with_a_certificate_of_its_own(lab: Lab) -> None:
    await lab.prepare()
    data = lab.emulator.data
    https = json.loads((data / "https.json").read_text())
    context = ssl.create_default_context(cafile=str(data / "certificate.pem"))

    address = f"{https['url']}{lab.path}/experiments?api-version=2018-05-01"
    async with aiohttp.ClientSession() as session, session.get(address, ssl=context) as answer:
        body = await answer.json()

    assert https["url"].startswith("https://127.0.0.1:")
    assert [one["name"] for one in body["value"]] == ["digits"]
    assert (data / "certificate.key").stat().st_mode & 0o077 == 0


async def test_the_port_of_https_and_the_certificate_outlive_a_restart(own_lab: Lab) -> None:
    def names() -> list[bytes]:
        return [(own_lab.emulator.data / name).read_bytes() for name in ("https.json", "certificate.pem")]

    before = names()
    await own_lab.emulator.stop()
    await own_lab.emulator.start()

    assert names() == before


async def test_a_service_principal_logs_in_and_finds_its_subscriptions(lab: Lab) -> None:
    await lab.prepare()
    tenant = "00000000-0000-0000-0000-00000000aaaa"

    _, configuration, _ = await lab.send("GET", f"/{tenant}/v2.0/.well-known/openid-configuration")
    endpoint = configuration["token_endpoint"].removeprefix(lab.emulator.url)
    form = {"grant_type": "client_credentials", "client_id": "x", "client_secret": "y", "scope": "z"}
    _, token, _ = await lab.send("POST", endpoint, data=form)
    _, tenants, _ = await lab.send("GET", "/tenants")
    _, subscriptions, _ = await lab.send("GET", "/subscriptions")

    part = token["access_token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=="))
    assert (token["token_type"], claims["tid"]) == ("Bearer", tenant)
    assert claims["exp"] > claims["iat"]
    assert [one["tenantId"] for one in tenants["value"]] == [tenant]
    assert "sub" in [one["subscriptionId"] for one in subscriptions["value"]]


async def test_a_group_takes_its_workspaces_with_it(lab: Lab) -> None:
    group = f"{S}/resourcegroups/group-{lab.workspace}"
    path = f"{group}/providers/Microsoft.BatchAI/workspaces/w"

    created, _, _ = await lab.send("PUT", group, json={"location": "eastus", "tags": {"a": "b"}})
    again, shown, _ = await lab.send("PUT", group, json={"location": "eastus"})
    await lab.send("PUT", path, json={"location": "eastus"})
    await lab.send("PUT", f"{path}/experiments/e")
    _, listed, _ = await lab.send("GET", f"{S}/resourcegroups")
    remote, _, _ = await lab.send("HEAD", group)
    deleted, _, headers = await lab.send("DELETE", group)
    place = headers["Location"].removeprefix(lab.emulator.url).split("?")[0]
    while (over := (await lab.send("GET", place))[0]) == 202:
        pass
    removed, _, _ = await lab.send("HEAD", group)
    workspace, _, _ = await lab.send("GET", path)

    assert (created, again, remote, deleted, over, removed, workspace) == (201, 200, 204, 202, 200, 404, 404)
    assert shown["properties"] == {"provisioningState": "Succeeded"}
    assert shown["name"] in [one["name"] for one in listed["value"]]
    absent, error, _ = await lab.send("DELETE", group)
    assert (absent, error["error"]["code"]) == (404, "ResourceGroupNotFound")


async def test_the_shares_outlive_a_group_because_all_groups_have_one_account(lab: Lab) -> None:
    group = f"{S}/resourcegroups/group-{lab.workspace}"
    await lab.send("PUT", group, json={"location": "eastus"})
    async with shares_of(lab) as service:
        await service.create_share("outlives")
        _, _, headers = await lab.send("DELETE", group)
        place = headers["Location"].removeprefix(lab.emulator.url).split("?")[0]
        while (await lab.send("GET", place))[0] == 202:
            pass
        assert "outlives" in [share.name async for share in service.list_shares()]


async def test_the_storage_account_and_its_key_are_found(lab: Lab) -> None:
    accounts = f"{S}/providers/Microsoft.Storage"
    own = f"{S}/resourceGroups/g/providers/Microsoft.Storage/storageAccounts"

    _, listed, _ = await lab.send("GET", f"{accounts}/storageAccounts")
    _, keys, _ = await lab.send("POST", f"{own}/{ACCOUNT}/listKeys")
    other, error, _ = await lab.send("PUT", f"{own}/another", json={})
    _, free, _ = await lab.send("POST", f"{accounts}/checkNameAvailability", json={"name": "another"})
    _, registered, _ = await lab.send("POST", f"{S}/providers/Microsoft.BatchAI/register")

    assert [one["name"] for one in listed["value"]] == [ACCOUNT]
    assert {key["value"] for key in keys["keys"]} == {KEY}
    assert other == 404
    assert ACCOUNT in error["error"]["message"]
    assert free["nameAvailable"] is False
    assert registered["registrationState"] == "Registered"


async def test_records_of_every_kind_outlive_a_crash(own_lab: Lab) -> None:
    await own_lab.make_cluster(autoscale(1))
    group = f"{S}/resourcegroups/kept"
    await own_lab.send("PUT", group, json={"location": "eastus"})
    server = {
        "vmSize": "Standard_D2",
        "sshConfiguration": {"userAccountSettings": {"adminUserName": "me", "adminUserPassword": "hidden"}},
        "dataDisks": {"diskSizeInGB": 1, "diskCount": 1, "storageAccountType": "Standard_LRS"},
    }
    await own_lab.send("PUT", f"{own_lab.path}/fileServers/nfs", json={"properties": server})

    await own_lab.emulator.kill()
    await own_lab.emulator.start()

    for path in (group, f"{own_lab.path}/fileServers/nfs", f"{own_lab.path}/clusters/{CLUSTER}"):
        assert (await own_lab.send("GET", path))[0] == 200, path
