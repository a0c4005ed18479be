"""What of a run is not kept: names that no blob can have, and what is not a file."""

import json
import re
from typing import Dict

from shared.engines.node.kept.entries import LeftOut

#: The most characters of a blob's name, and its most parts; and how many that are not kept are named.
LONGEST, SEGMENTS, NAMED = 1024, 254, 100
#: Where each node lists the kinds of what it did not keep, for the app, and how many of them.
LEFT_OUT, LISTED = "left-out", 1000
#: What no blob's name may have, as for every name in Slipway: a test compares this with `name_flaw`.
REFUSED = re.compile(
    "[\\\\\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]"
)


def why_no_blob(name: str) -> str:
    """Why no blob can have the name, or the storage would change it; "" if it keeps it."""
    if len(name) > LONGEST:
        return f"a blob's name has at most {LONGEST} characters, with the folders of its job"
    if name.count("/") >= SEGMENTS:
        return f"a blob lies at most {SEGMENTS} folders deep, with the folders of its job"
    if "./" in f"{name}/":
        return "storage drops a dot at the end of a name"
    refused = REFUSED.search(name)
    return f"no name in storage has the character {refused.group()!a}" if refused else ""


def report(left_out: Dict[str, LeftOut]) -> str:
    """The lines of the journal about entries that are not kept, by their names."""
    first = sorted(left_out.items())[:NAMED]
    lines = [f"Not kept: {name!a}: {one.reason}\n" for name, one in first]
    return "".join(lines) + (f"Not kept: {len(left_out) - NAMED} more\n" if len(left_out) > NAMED else "")


def left_out_kinds(left_out: Dict[str, LeftOut]) -> bytes:
    """The kinds of the first of them, as JSON."""
    return json.dumps({name: one.kind for name, one in sorted(left_out.items())[:LISTED]}).encode()
