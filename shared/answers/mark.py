"""The mark of this API's own answers.

A client tells by it a gateway's page, or an empty answer of the Functions host, from an answer of Slipway.
"""

from __future__ import annotations

#: The header of every answer of the API, errors included, and its value.
MARK, MARKED = "Slipway-Api", "1"
