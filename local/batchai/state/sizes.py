"""The virtual machine sizes of 2018, as data: cores and GPUs of a node."""

from collections.abc import Mapping
from typing import NamedTuple


class Size(NamedTuple):
    """The hardware of a VM size."""

    family: str
    cores: int
    gpus: int = 0


#: Of each family: names, cores, GPUs.
_FAMILIES = {
    "A": "A1 1, A2 2, A3 4, A4 8, A5 2, A6 4, A7 8, A8 8, A9 16, A10 8, A11 16",
    "Av2": "A1_v2 1, A2_v2 2, A4_v2 4, A8_v2 8, A2m_v2 2, A4m_v2 4, A8m_v2 8",
    "D": "D1 1, D2 2, D3 4, D4 8, D11 2, D12 4, D13 8, D14 16",
    "Dv2": "D1_v2 1, D2_v2 2, D3_v2 4, D4_v2 8, D5_v2 16, D11_v2 2, D12_v2 4, D13_v2 8, D14_v2 16, D15_v2 20",
    "Dv3": "D2_v3 2, D4_v3 4, D8_v3 8, D16_v3 16, D32_v3 32, D64_v3 64",
    "DSv3": "D2s_v3 2, D4s_v3 4, D8s_v3 8, D16s_v3 16, D32s_v3 32, D64s_v3 64",
    "Ev3": "E2_v3 2, E4_v3 4, E8_v3 8, E16_v3 16, E20_v3 20, E32_v3 32, E64_v3 64, E64i_v3 64",
    "ESv3": "E2s_v3 2, E4s_v3 4, E8s_v3 8, E16s_v3 16, E20s_v3 20, E32s_v3 32, E64s_v3 64, E64is_v3 64",
    "F": "F1 1, F2 2, F4 4, F8 8, F16 16",
    "FS": "F1s 1, F2s 2, F4s 4, F8s 8, F16s 16",
    "FSv2": "F2s_v2 2, F4s_v2 4, F8s_v2 8, F16s_v2 16, F32s_v2 32, F64s_v2 64, F72s_v2 72",
    "G": "G1 2, G2 4, G3 8, G4 16, G5 32",
    "H": "H8 8, H16 16, H8m 8, H16m 16, H16r 16, H16mr 16",
    "LS": "L4s 4, L8s 8, L16s 16, L32s 32",
    "MS": "M64s 64, M64ms 64, M128s 128, M128ms 128",
    "NC": "NC6 6 1, NC12 12 2, NC24 24 4, NC24r 24 4",
    "NCv2": "NC6s_v2 6 1, NC12s_v2 12 2, NC24s_v2 24 4, NC24rs_v2 24 4",
    "NCv3": "NC6s_v3 6 1, NC12s_v3 12 2, NC24s_v3 24 4, NC24rs_v3 24 4",
    "ND": "ND6s 6 1, ND12s 12 2, ND24s 24 4, ND24rs 24 4",
    "NV": "NV6 6 1, NV12 12 2, NV24 24 4",
}
#: Those that the description of the API excludes from clusters; file servers may have them.
_PREMIUM = {
    "DS": "DS1 1, DS2 2, DS3 4, DS4 8, DS11 2, DS12 4, DS13 8, DS14 16",
    "DSv2": "DS1_v2 1, DS2_v2 2, DS3_v2 4, DS4_v2 8, DS5_v2 16, DS11_v2 2, DS12_v2 4, DS13_v2 8, DS14_v2 16,"
    " DS15_v2 20",
    "GS": "GS1 2, GS2 4, GS3 8, GS4 16, GS5 32",
}


def _table(families: Mapping[str, str]) -> dict[str, Size]:
    sizes = {}
    for family, listed in families.items():
        for entry in listed.split(","):
            name, *counts = entry.split()
            sizes[name.upper()] = Size(family, *map(int, counts))
    return sizes


_SIZES, _OF_FILE_SERVERS = _table(_FAMILIES), _table(_PREMIUM)


def gpus_of(number: int, size: str, present: int) -> tuple[int, ...]:
    """The GPUs of this machine that a node has: as many as its size has, if there are so many, in turn."""
    count = min(size_of(size).gpus, present)
    first = (number - 1) * count
    return tuple(sorted({(first + index) % present for index in range(count)}))


def size_of(name: str) -> Size:
    """The size of a cluster by its name; a small machine where clusters of earlier emulators have another."""
    return _SIZES.get(_short(name), Size("other", 2))


def size_problem(name: str, *, file_server: bool = False) -> str:
    """Why a cluster cannot have that size; "" if it can. Names such as Standard_NC6 count in any case."""
    short = _short(name)
    if short in _SIZES or (file_server and short in _OF_FILE_SERVERS):
        return ""
    if short in _OF_FILE_SERVERS:
        return f"Nodes cannot have the size {name!r}, which is one with premium storage (DS, DSv2, GS)."
    return f"There is no size {name!r}; write one such as Standard_NC6 or STANDARD_D1."


def _short(name: str) -> str:
    return name.upper().removeprefix("STANDARD_")
