"""A deployment's record by azd: the outputs of the template, in `.azure/NAME/.env` of the clone."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.failure import Failure

_LINE = re.compile(r'(?:export )?([A-Za-z_]\w*)=(?:"((?:[^"\\]|\\.)*)"|(.*))', re.ASCII)
_ENVIRONMENT = re.compile(r"\w[\w().-]{0,63}", re.ASCII)
_RESOURCE = re.compile(r"\w[\w().-]{0,89}", re.ASCII)
#: The variable with the name of azd's current environment, which overrides the default one.
_NAME = "AZURE_ENV_NAME"
_ACCOUNT = "AZURE_BATCH_ACCOUNT_NAME"


@dataclass(frozen=True)
class AzdDeployment:
    """A deployment, with the names that its template gave the resources."""

    subscription: str
    group: str
    app: str
    vault: str
    storage: str
    topic: str
    insights: str
    is_private: bool = False
    #: the account of the pool that the template made; "" if it made none
    account: str = ""

    def path(self, kind: str, name: str) -> str:
        """The path of a resource of the group."""
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.group}/providers/{kind}/{name}"


def environment(folder: Path, variables: Mapping[str, str]) -> Mapping[str, str]:
    """The values of azd's environment for a folder within a project; {} for none. Raises Failure.

    AZURE_ENV_NAME names it, else the project's default does.
    """
    project = next((one for one in (folder, *folder.parents) if (one / ".azure").is_dir()), None)
    if project is None:
        return {}
    try:
        name = variables.get(_NAME) or _default(project / ".azure" / "config.json")
        if not name:
            return {}
        if not _ENVIRONMENT.fullmatch(name):
            raise Failure(f"{_NAME} {name[:80]!r} is not the name of an environment of azd")
        return read((project / ".azure" / name / ".env").read_text("utf-8"))
    except FileNotFoundError:
        raise Failure(
            f"azd does not know {name} in {project}; `azd env list` names its environments"
        ) from None
    except (OSError, UnicodeError) as error:
        raise Failure(f"the environment of azd in {project} cannot be read: {error}") from None


def read(text: str) -> dict[str, str]:
    """The values of a file of azd, in the quoting of Go's godotenv."""
    values = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            name, quoted, bare = match.groups()
            values[name] = bare.strip() if quoted is None else re.sub(r"\\(.)", _unescaped, quoted)
    return values


def deployment_of(values: Mapping[str, str]) -> AzdDeployment:
    """The deployment of an environment. Raises Failure if it has not been provisioned."""
    names = {
        "subscription": "AZURE_SUBSCRIPTION_ID",
        "group": "AZURE_RESOURCE_GROUP",
        "app": "AZURE_FUNCTION_APP_NAME",
        "vault": "AZURE_KEY_VAULT_NAME",
        "storage": "AZURE_STORAGE_ACCOUNT_NAME",
        "topic": "AZURE_EVENT_TOPIC_NAME",
        "insights": "AZURE_INSIGHTS_NAME",
    }
    if absent := [name for name in names.values() if not values.get(name)]:
        raise Failure(f"azd's environment lacks {', '.join(absent)}; run `azd provision` in the clone")
    results = {member: values[name] for member, name in names.items()}
    if values.get(_ACCOUNT):
        names["account"], results["account"] = _ACCOUNT, values[_ACCOUNT]
    for name, value in results.items():
        if not _RESOURCE.fullmatch(value):
            raise Failure(f"azd's environment: {names[name]} {value[:80]!r} is not the name of a resource")
    return AzdDeployment(**results, is_private=values.get("VNET_ENABLED", "").lower() == "true")


def _default(file: Path) -> str:
    """The name of the default environment; "" if there is none."""
    try:
        name = json.loads(file.read_text("utf-8")).get("defaultEnvironment", "")
    except FileNotFoundError:
        return ""
    except (ValueError, AttributeError):
        raise Failure(f"{file} cannot be read; `azd env select NAME` writes it") from None
    return str(name)


def _unescaped(match: "re.Match[str]") -> str:
    return {"n": "\n", "r": "\r"}.get(match[1], match[1])
