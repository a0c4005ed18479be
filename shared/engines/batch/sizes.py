"""Sizes of virtual machines that Azure has retired, and the nearest current ones by GPU memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping

#: When the table was last compared with Azure's announcements.
DATED = "2026-09"

_T4, _A100, _A10 = "Standard_NC{}as_T4_v3", "Standard_NC{}ads_A100_v4", "Standard_NV36ads_A10_v5"
#: Retired → current, without `Standard_`, in lower case. An NCasT4 has one GPU up to 16 cores.
LIVING: Mapping[str, str] = {
    "nc6": _T4.format(4),
    "nc12": _A100.format(48),
    "nc24": _T4.format(64),
    "nc24r": _T4.format(64),
    **dict.fromkeys(("nc6s_v2", "nd6s", "nc6s_v3"), _A100.format(24)),
    **dict.fromkeys(("nc12s_v2", "nd12s", "nc12s_v3"), _A100.format(48)),
    **dict.fromkeys(("nc24s_v2", "nc24rs_v2", "nd24s", "nd24rs"), _A100.format(96)),
    **dict.fromkeys(("nc24s_v3", "nc24rs_v3"), _A100.format(96)),
    **dict.fromkeys(("nv6", "nv12s_v3"), _A10),
}


def size_trouble(size: str) -> str:
    """Why a pool of this size gets no nodes, with a size to use instead; "" unless it is known as retired."""
    plain = size.lower().removeprefix("standard_").removesuffix("_promo")
    living = LIVING.get(plain)
    if living is None:
        return ""
    return f"Azure has retired {size}: {living} is the nearest in GPU memory (table of {DATED})"
