"""The price table: what an hour of a node costs, by region, VM size and priority; with date and source. Pure.

Prices change, and differ by contract: an operator's own rows (SLIPWAY_PRICES) win over those that ship here.
The price of a size without a row is not known, and never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from shared.core.cost.price_table import TABLE


class Price(BaseModel):
    """One row. `per_hour` is for one node, without disks, traffic and storage.

    It is the price of a VM size in a region, or of the nodes of one configured cluster.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    cluster: str = ""
    region: str = ""
    #: as Azure writes it, e.g. Standard_NC6; capitals do not matter
    size: str = ""
    priority: Literal["", "dedicated", "lowpriority"] = ""
    currency: str = Field(pattern="^[A-Z]{3}$")
    per_hour: float = Field(ge=0, lt=10_000)
    #: when the price was looked up
    date: date
    source: str

    @model_validator(mode="after")
    def _names_its_nodes(self) -> Self:
        of_size = [self.region, self.size, self.priority]
        if any(of_size) if self.cluster else not all(of_size):
            raise ValueError("it names either a cluster, or region, size and priority")
        return self


@cache
def shipped() -> tuple[Price, ...]:
    """The prices that come with Slipway (`price_table`)."""
    rows: list[Price] = []
    for date_, source, lines in TABLE:
        for line in lines.strip().splitlines():
            size, *words = line.split()
            for region, *costs in zip(words[::3], words[1::3], words[2::3], strict=True):
                rows += (
                    Price.model_validate(
                        {"region": region, "size": size, "priority": priority, "currency": "USD"}
                        | {"per_hour": float(cost), "date": date_, "source": source}
                    )
                    for priority, cost in zip(("dedicated", "lowpriority"), costs, strict=True)
                    if cost != "-"
                )
    return tuple(rows)


def prices_from(rows: Any) -> tuple[Price, ...]:
    """The rows of an operator. Raises ValueError, which names the first invalid row."""
    if not isinstance(rows, list):
        raise ValueError("it must be a list of rows")
    prices = []
    for index, row in enumerate(rows):
        try:
            prices.append(Price.model_validate(row))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the row"
            message = first["msg"].removeprefix("Value error, ").lower()
            raise ValueError(f"row {index}: {place}: {message}") from None
    return tuple(prices)


def matching(
    own: Sequence[Price], size: str, priority: str, region: str, *, cluster: str = ""
) -> tuple[Price, ...]:
    """The rows for a node: the cluster's, else an operator's for its size, else the shipped ones.

    Without a region, the rows of every region.
    """
    if of_cluster := tuple(row for row in own if cluster and row.cluster == cluster):
        return of_cluster
    for rows in (own, shipped()):
        matches = tuple(
            row
            for row in rows
            if size
            and row.size.lower() == size.lower()
            and (row.priority == priority or not priority)
            and (row.region.lower() == region.lower() or not region)
        )
        if matches:
            return matches
    return ()


def currency_of(own: Sequence[Price]) -> str:
    """The currency of a deployment: that of its operator's prices, else that of the shipped ones."""
    return own[0].currency if own else shipped()[0].currency
