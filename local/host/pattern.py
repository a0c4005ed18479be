"""Paths with parameters, as blob bindings write them: drop/{experiment}/{name}.py."""

import re
from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

_PARAMETER = re.compile(r"\{([^{}]+)\}")


class BlobPattern:
    """The path of a blob trigger: container and pattern of names; parameters match greedily, slashes too."""

    def __init__(self, path: str) -> None:
        self.container, slash, blob = path.strip("/").partition("/")
        blob = blob or "{name}"
        if not self.container or "{" in self.container or (slash and blob.startswith("/")):
            raise ValueError(f"the blob path {path!r} must begin with a container name, e.g. drop/{{name}}")
        self.prefix = blob.partition("{")[0]
        expression = ""
        end = 0
        for match in _PARAMETER.finditer(blob):
            if not match[1].isidentifier():
                raise ValueError(f"the blob path {path!r}: {match[0]} is not a parameter name")
            expression += f"{re.escape(blob[end : match.start()])}(?P<{match[1]}>.+)"
            end = match.end()
        self._expression = re.compile(expression + re.escape(blob[end:]), re.DOTALL)

    def match(self, name: str) -> dict[str, str] | None:
        """The parameters in a blob's name, None when the pattern does not fit."""
        match = self._expression.fullmatch(name)
        return None if match is None else match.groupdict()


def fill(template: str, values: Mapping[str, str], now: datetime) -> str:
    """Put values into an output path, and {rand-guid}, {DateTime}, {sys.utcnow}; KeyError for others."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name == "rand-guid":
            return str(uuid4())
        if name in ("DateTime", "sys.utcnow"):
            return now.strftime("%Y-%m-%dT%H-%M-%SZ")
        return values[name]

    return _PARAMETER.sub(value, template)
