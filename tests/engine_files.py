"""Everything in an output directory, as an engine lists and reads it."""

from __future__ import annotations

from typing import NamedTuple

from shared.core.engine import Engine
from shared.core.job import Target


class Whole(NamedTuple):
    """Path → bytes of the files, and the paths as shown of what is listed and left out."""

    files: dict[str, bytes]
    left_out: set[str]


async def whole(engine: Engine, target: Target, directory: str, path: str = ".") -> Whole:
    """Every folder page by page, every file in one read."""
    result, ahead = Whole({}, set()), [path]
    while ahead:
        folder, after, begun = ahead.pop(), "", False
        while after or not begun:
            page = await engine.page(target, directory, folder, after)
            after, begun = page.next, True
            for file in page.files:
                name = file.name if folder == "." else f"{folder}/{file.name}"
                if file.left_out or file.link:
                    result.left_out.add(name)
                elif file.size is None:
                    ahead.append(name)
                else:
                    chunk = await engine.read(target, directory, name, 0, 1 << 20)
                    assert (len(chunk.data), chunk.size) == (file.size, file.size), name
                    result.files[name] = chunk.data
    return result
