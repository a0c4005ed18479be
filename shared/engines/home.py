"""in_home: results in the home directory of a node, for engines whose nodes do not share one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec import JobSpec, Problem, problem

_HOME = re.compile(r"\$(?:HOME(?![A-Za-z0-9_])|\{HOME\})", re.ASCII)
_REMEDY = "write a path that begins with $AZ_BATCHAI_JOB_MOUNT_ROOT/ or $AZ_BATCHAI_MOUNT_ROOT/"


def in_home(spec: JobSpec) -> Iterator[Problem]:
    """A warning for each path of results that begins with $HOME, which goes with the node."""
    properties = spec.properties
    places = {"stdOutErrPathPrefix": properties.std_out_err_path_prefix} | {
        f"outputDirectories/{index}/pathPrefix": one.path_prefix
        for index, one in enumerate(properties.output_directories or ())
    }
    for at, prefix in places.items():
        if _HOME.match(prefix):
            text = (
                "nodes of this cluster share no home directory; what is written there is lost with the node"
            )
            yield problem("SW033", f"/properties/{at}", text, _REMEDY, "warning")
