"""The ports of this process, built at its first event: until then nothing is loaded that only an event needs.

For the same reason a trigger imports its use case when it is called: a cold start pays for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.ports import Ports


def ports() -> Ports:
    """See `wiring`."""
    from shared.wiring import ports as built

    return built()
