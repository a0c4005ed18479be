"""Files of any size as block blobs: uploaded and downloaded in pieces, some of them at a time."""

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Deque, Dict, List

from shared.engines.node.blobs import Answer, Container

#: Bytes of a piece; the most pieces of a blob, which may have 50,000; how many are on their way at a time.
PIECE, MOST_PIECES, AT_A_TIME = 8 << 20, 40_000, 4
#: Sends a request: method, name, query, headers, body.
Call = Callable[[str, str, Dict[str, str], Dict[str, str], bytes], Any]


def upload(
    call: Call, name: str, read: Callable[[int], bytes], size: int, is_whole: Callable[[], bool]
) -> bool:
    """Upload a file of about that size; `is_whole` says at the end whether the blob may exist.

    Returns whether it does. Raises OSError.
    """
    if size <= PIECE:
        data = read(PIECE)
        if is_whole():
            call("PUT", name, {}, {"x-ms-blob-type": "BlockBlob"}, data)
            return True
        return False
    blocks: List[str] = []
    coming: Deque[Future[Any]] = deque()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for data in iter(lambda: read(max(PIECE, size // MOST_PIECES + 1)), b""):
            blocks.append(f"{len(blocks):08d}")
            query = {"comp": "block", "blockid": blocks[-1]}
            coming.append(pool.submit(call, "PUT", name, query, {}, data))
            if len(coming) == AT_A_TIME:
                coming.popleft().result()
        while coming:
            coming.popleft().result()
    if not is_whole():
        return False
    body = "".join(f"<Latest>{block}</Latest>" for block in blocks)
    xml = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{body}</BlockList>'
    call("PUT", name, {"comp": "blocklist"}, {}, xml.encode())
    return True


def download(container: Container, name: str, descriptor: int, size: int) -> None:
    """Write the first `size` bytes of a blob to an open file. Raises OSError, also if it has fewer."""

    def bring(start: int) -> None:
        end = min(start + PIECE, size)
        answer: Answer = container.call("GET", name, headers={"Range": f"bytes={start}-{end - 1}"})
        if len(answer.content) != end - start:
            raise OSError(f"{name} has other bytes than were uploaded")
        os.pwrite(descriptor, answer.content, start)

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(bring, range(0, size, PIECE)))
