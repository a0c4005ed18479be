"""This process of the app, and its ports, built at the first invocation: it loads no more before that.

For the same reason a trigger imports its use case when it is called: a cold start loads none.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.core.ports import Ports
    from shared.settings import Settings

log = logging.getLogger(__name__)

#: The number of new objects after which the collector looks for cycles among them.
_YOUNG = 50_000
_ports: Ports | None = None


def ports() -> Ports:
    """The ports of this process. Raises Misconfigured at each invocation until the settings are right."""
    global _ports  # noqa: PLW0603 - one client per process: connections are kept alive between events
    if _ports is None:
        from shared.settings import Settings
        from shared.wiring import build, log_faults, meter_of, write_json_lines

        settings = Settings(dict(os.environ))
        logging.getLogger("azure").setLevel(logging.WARNING)  # its pipelines log every request at INFO
        write_json_lines()
        _report(settings)
        _ports = build(settings, meter_of(settings))
        log_faults(settings)
        _spare_the_collector()
    return _ports


def _report(settings: Settings) -> None:
    """Log names that are not settings."""
    for name, nearest in settings.unknown().items():
        log.warning("%s is not a setting%s", name, f"; did you mean {nearest}?" if nearest else "")


def _spare_the_collector() -> None:
    """Look for cycles less often: it cost a twelfth, and most objects die with their last reference."""
    import gc

    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)
