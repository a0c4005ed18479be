"""alone: an answer about one job that cannot be parsed does not hide the others."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TypeVar

from shared.core.errors import EngineError, Transient

log = logging.getLogger(__name__)
Result = TypeVar("Result")


async def alone(name: str, question: Awaitable[Result | None]) -> Result | None:
    """The observation of one job; None if it cannot be parsed. Raises any other error of the cluster."""
    try:
        return await question
    except Transient as error:
        log.warning("%s", error)
    except EngineError:
        raise
    except Exception:
        # A job can write its own record: an error in reading it concerns that job only.
        log.exception("the observation of %s cannot be parsed", name)
    return None
