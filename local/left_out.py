"""What the directory of a container lacks, in a sentence. Pure."""

from collections.abc import Sequence

#: How many blobs it names.
_NAMED = 5


def blobs_left_out(names: Sequence[str]) -> str:
    """The sentence about the blobs of these names; "" if there are none."""
    if not names:
        return ""
    some = ", ".join(map(ascii, sorted(names)[:_NAMED])) + (", …" if len(names) > _NAMED else "")
    number = "1 blob is" if len(names) == 1 else f"{len(names)} blobs are"
    return f"{number} not shown, in the archive tier or with a name that is not a path: {some}"
