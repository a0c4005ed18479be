"""`slipway az-env`: the configuration of the Azure CLI that it writes."""

from __future__ import annotations

import json
import socket
from configparser import ConfigParser
from pathlib import Path

import pytest

from slipway.failure import Failure
from slipway.stack.az_env import environment, run


def _stack(data: Path, port: int = 7443) -> None:
    """What a running stack leaves."""
    (data / "batchai").mkdir()
    https = {"url": f"https://127.0.0.1:{port}", "port": port, "tenant": "t-1", "proxy": 7444}
    (data / "batchai" / "https.json").write_text(json.dumps(https))
    (data / "batchai" / "certificate.pem").write_text("our certificate\n")
    connection = (
        "AccountName=devstoreaccount1;AccountKey=a==;BlobEndpoint=http://127.0.0.1:1/devstoreaccount1"
    )
    values = {"Values": {"AzureWebJobsStorage": connection}}
    (data / "local.settings.json").write_text(json.dumps(values))


def test_the_cli_is_pointed_at_the_emulator_and_keeps_what_else_it_knows(tmp_path: Path) -> None:
    _stack(tmp_path)
    (tmp_path / "az").mkdir()
    (tmp_path / "az" / "config").write_text("[defaults]\ngroup = mine\n")

    env, remark = environment(tmp_path)

    clouds, config = ConfigParser(), ConfigParser()
    clouds.read(Path(env["AZURE_CONFIG_DIR"]) / "clouds.config")
    config.read(Path(env["AZURE_CONFIG_DIR"]) / "config")
    assert clouds["Slipway"]["endpoint_resource_manager"] == "https://127.0.0.1:7443"
    assert clouds["Slipway"]["endpoint_active_directory"] == "https://127.0.0.1:7443"
    assert config["cloud"]["name"] == "Slipway"
    assert config["core"]["instance_discovery"] == "false"
    assert config["defaults"]["group"] == "mine"
    assert Path(env["REQUESTS_CA_BUNDLE"]).read_text().endswith("our certificate\n")
    assert env["AZURE_BATCHAI_STORAGE_KEY"] == "a=="
    assert (env["HTTPS_PROXY"], env["NO_PROXY"]) == ("http://127.0.0.1:7444", "127.0.0.1,localhost")
    assert remark.endswith("--tenant t-1")


def test_its_output_is_for_eval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as emulator:
        _stack(tmp_path, emulator.getsockname()[1])

        assert run(tmp_path) == 0

    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith(("export ", "# ")) for line in lines)
    assert f"export AZURE_CONFIG_DIR={tmp_path}/az" in lines


def test_a_stack_that_has_stopped_has_nothing_to_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as emulator:
        _stack(tmp_path, emulator.getsockname()[1])

    with pytest.raises(Failure, match="does not run; start it"):
        run(tmp_path)
    assert capsys.readouterr().out == ""


def test_without_a_stack_it_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="slipway up"):
        run(tmp_path)
