"""`slipway az-env`: shell settings with which the real Azure CLI uses the local stack."""

import json
import shlex
import socket
from configparser import ConfigParser
from pathlib import Path
from typing import Any, NamedTuple

from local.clusters.emulator import emulator_folder
from slipway.failure import Failure
from slipway.settings import display_path, local_stack
from slipway.terminal.screen import put, put_json

_CLOUD = "Slipway"
_PATIENCE = 2.0


def run(data: Path | None, *, as_json: bool = False) -> int:
    """Print the lines for `eval`, or the variables; 0. Raises Failure if no stack runs there."""
    where = (data or local_stack()).resolve()
    _check_emulator(where)
    variables, remark = environment(where)
    if as_json:
        put_json(variables)
        return 0
    put(*(f"export {name}={shlex.quote(value)}" for name, value in variables.items()), f"# {remark}")
    return 0


class Environment(NamedTuple):
    """Settings of a shell: variables, and a remark with the command to log in."""

    variables: dict[str, str]
    remark: str


def environment(data: Path) -> Environment:
    """The variables and the remark. It also writes a configuration folder for `az`."""
    https = _read(emulator_folder(data) / "https.json")
    folder = data / "az"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(folder / "clouds.config", {_CLOUD: _endpoints(https["url"])})
    # The CLI has more settings in its configuration: existing ones stay.
    _write(
        folder / "config",
        {
            "cloud": {"name": _CLOUD},
            # The authority is this machine, so no public authority has to sign it.
            "core": {
                "instance_discovery": "false",
                "collect_telemetry": "false",
                "survey_message": "false",
                "login_experience_v2": "off",
            },
            "auto-upgrade": {"enable": "no"},
        },
    )
    variables = {
        "AZURE_CONFIG_DIR": str(folder),
        "REQUESTS_CA_BUNDLE": str(_bundle(folder / "ca.pem", emulator_folder(data) / "certificate.pem")),
        # For `--account-name` with `--account-key`, which imply a host in Azure: the emulator answers for it.
        "HTTPS_PROXY": f"http://127.0.0.1:{https['proxy']}",
        "NO_PROXY": "127.0.0.1,localhost",
        **_storage(data / "local.settings.json"),
    }
    login = f"az login --service-principal --username slipway --password local --tenant {https['tenant']}"
    return Environment(variables, f"once: {login}")


def _check_emulator(data: Path) -> None:
    """Whether the emulator listens at its address. Raises Failure."""
    port = _read(emulator_folder(data) / "https.json")["port"]
    try:
        socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE).close()
    except OSError:
        raise Failure(
            f"the stack of {display_path(data)} does not run; start it with `slipway up`, or name its --data"
        ) from None


def _endpoints(url: str) -> dict[str, str]:
    names = ("active_directory", "active_directory_resource_id", "active_directory_graph_resource_id")
    named = dict.fromkeys(("resource_manager", "management", *names), url)
    return {f"endpoint_{name}": value for name, value in named.items()} | {
        "suffix_storage_endpoint": "core.windows.net"
    }


def _storage(settings: Path) -> dict[str, str]:
    """The account that jobs mount from, for `az batchai` and for `az storage`."""
    if not settings.is_file():
        return {}
    connection = str(_read(settings)["Values"]["AzureWebJobsStorage"])
    values = dict(part.split("=", 1) for part in connection.split(";") if "=" in part)
    return {
        "AZURE_BATCHAI_STORAGE_ACCOUNT": values["AccountName"],
        "AZURE_BATCHAI_STORAGE_KEY": values["AccountKey"],
        "AZURE_STORAGE_CONNECTION_STRING": connection,
    }


def _bundle(file: Path, own: Path) -> Path:
    """The certificates of public authorities and ours: other programs in the shell read it, too."""
    import certifi

    file.write_text(Path(certifi.where()).read_text(encoding="utf-8") + own.read_text(encoding="utf-8"))
    return file


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise Failure(
            f"{file.parent} holds no running stack; start it with `slipway up`, or name its --data"
        ) from None


def _write(file: Path, sections: dict[str, dict[str, str]]) -> None:
    parser = ConfigParser(interpolation=None)
    parser.read(file, encoding="utf-8")
    parser.read_dict(sections)
    with file.open("w", encoding="utf-8") as out:
        parser.write(out)
