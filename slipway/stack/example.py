"""A first job for an empty local stack, so that its page has something to show."""

import os

from local.stack import Stack
from shared.settings import Settings
from slipway.client.deployment import KEY
from slipway.client.drops.upload import upload
from slipway.client.service import service
from slipway.failure import Failure
from slipway.settings import ROOT

FOLDER = ROOT / "examples" / "digits"


async def run_example(stack: Stack) -> str:
    """Drop examples/digits if there are no jobs yet; returns a line for the user, or ""."""
    try:
        async with service(stack.host_url, os.environ.get(KEY, "")) as api:
            if (await api.jobs({}, 1)).jobs:
                return ""
        await upload(Settings(stack.settings), FOLDER)
    except Failure as failure:
        return f"the example does not run: {failure}"
    return f"examples/digits runs, for a first look: {stack.host_url}/api/ui/"
