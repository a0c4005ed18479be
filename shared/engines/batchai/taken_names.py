"""The names of variables that no document of Batch AI may have. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from shared.core.refusals import refused
from shared.engines.batchai.code import ADDRESS, MOUNTS, PLACE, TEMPORARY
from shared.engines.batchai.usage import ASKS
from shared.jobspec import JobSpec, Problem

#: What bash takes from its environment before the code of a job is there. By it a job could run something
#: that ends its attempt as if that had not come, or run nothing and succeed.
_BEFORE = {"BASH_ENV": "write `. FILE` into the command", "SHELLOPTS": "write `set -o NAME` into the command"}


def taken_names(spec: JobSpec) -> Iterator[Problem]:
    """A refusal of each variable that Slipway sets.

    By one it is seen that a job has code: its end without that counts no use.
    """
    properties = spec.document()["properties"]
    for kind in ("environmentVariables", "secrets"):
        for index, one in enumerate(properties.get(kind) or ()):
            at = f"/properties/{kind}/{index}/name"
            if one["name"] in (PLACE, ADDRESS, TEMPORARY, MOUNTS):
                text = f"{one['name']} is set by Slipway, for a job that has code"
                yield refused("SW109", at, text, "choose another name")
            if one["name"] == ASKS:
                yield refused("SW109", at, f"{ASKS} is set by Slipway", "choose another name")
            if remedy := _BEFORE.get(one["name"]):
                text = f"bash obeys {one['name']} before the code of the job is there"
                yield refused("SW109", at, text, remedy)
