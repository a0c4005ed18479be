"""Virtual machine sizes that clusters had, as data: cores and GPUs of a node."""

from typing import NamedTuple


class Size(NamedTuple):
    """What a node of a size has."""

    family: str
    cores: int
    gpus: int = 0


#: Any size that the table does not know is taken for a small machine without GPUs.
_UNKNOWN = Size("other", 2)

_SIZES = {
    "NC6": Size("NC", 6, 1),
    "NC12": Size("NC", 12, 2),
    "NC24": Size("NC", 24, 4),
    "NC24R": Size("NC", 24, 4),
    "NC6S_V2": Size("NCv2", 6, 1),
    "NC12S_V2": Size("NCv2", 12, 2),
    "NC24S_V2": Size("NCv2", 24, 4),
    "NC24RS_V2": Size("NCv2", 24, 4),
    "NC6S_V3": Size("NCv3", 6, 1),
    "NC12S_V3": Size("NCv3", 12, 2),
    "NC24S_V3": Size("NCv3", 24, 4),
    "NC24RS_V3": Size("NCv3", 24, 4),
    "ND6S": Size("ND", 6, 1),
    "ND12S": Size("ND", 12, 2),
    "ND24S": Size("ND", 24, 4),
    "ND24RS": Size("ND", 24, 4),
    "NV6": Size("NV", 6, 1),
    "NV12": Size("NV", 12, 2),
    "NV24": Size("NV", 24, 4),
    "D1": Size("D", 1),
    "D2": Size("D", 2),
    "D3": Size("D", 4),
    "D4": Size("D", 8),
    "D1_V2": Size("Dv2", 1),
    "D2_V2": Size("Dv2", 2),
    "D3_V2": Size("Dv2", 4),
    "D4_V2": Size("Dv2", 8),
    "D5_V2": Size("Dv2", 16),
    "F2": Size("F", 2),
    "F4": Size("F", 4),
    "F8": Size("F", 8),
    "F16": Size("F", 16),
}


def gpus_of(number: int, size: str, present: int) -> tuple[int, ...]:
    """The GPUs of this machine that a node has: as many as its size says and there are, in turn."""
    count = min(size_of(size).gpus, present)
    first = (number - 1) * count
    return tuple(sorted({(first + index) % present for index in range(count)}))


def size_of(name: str) -> Size:
    """The size by its name, such as Standard_NC6, in any case."""
    return _SIZES.get(name.upper().removeprefix("STANDARD_"), _UNKNOWN)
