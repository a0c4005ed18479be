"""The addresses of files that a list of their folder gave."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from shared.core.errors import NotFound, Transient
from shared.engines.batchai.addresses import BOUNDS, Addresses, Bounds, Listed


@dataclass
class Cluster:
    """A cluster that lists one folder, each time for some seconds."""

    names: list[str]
    seconds: float = 1.0
    now: float = 0.0
    lists: int = 0
    page: int = 1000
    pages: int = 0
    bounds: Bounds = BOUNDS
    addresses: Addresses = field(init=False)

    def __post_init__(self) -> None:
        self.addresses = Addresses(lambda: self.now, self.bounds)

    async def find(self, name: str, folder: str = "f") -> str:
        return await self.addresses.find(folder, name, self._list)

    async def _list(self, after: str) -> Listed:
        self.lists += not after
        self.pages += 1
        await asyncio.sleep(0)
        self.now += self.seconds
        start = int(after or 0)
        some = self.names[start : start + self.page]
        following = str(start + self.page) if start + self.page < len(self.names) else ""
        return Listed({name: f"https://x/{name}?{self.lists}" for name in some}, following)


async def test_one_list_serves_a_folder_until_its_addresses_are_old() -> None:
    cluster = Cluster([f"{number:03}" for number in range(100)])

    for name in cluster.names:
        assert await cluster.find(name) == f"https://x/{name}?1"
    cluster.now += 1800
    assert await cluster.find("000") == "https://x/000?2"


async def test_a_large_folder_is_listed_now_and_then_and_not_for_each_file() -> None:
    cluster = Cluster([f"{number:04}" for number in range(1000)], seconds=0.0, bounds=Bounds(of_folder=100))

    for name in cluster.names:
        await cluster.find(name)

    assert cluster.lists == 10


@pytest.mark.parametrize("order", [1, -1])
async def test_a_large_folder_is_read_no_further_than_what_is_kept(order: int) -> None:
    names = [f"{number:03}" for number in range(200)]
    cluster = Cluster(names[::order], page=10, bounds=Bounds(of_folder=30))

    assert await cluster.find("095") == "https://x/095?1"

    assert cluster.pages == (13 if order == 1 else 11)
    assert await cluster.find("104") == "https://x/104?1"


async def test_many_who_want_the_same_list_share_it() -> None:
    cluster = Cluster(["a", "b", "c"])

    await asyncio.gather(*(cluster.find(name) for name in "abcabc"))

    assert cluster.lists == 1


async def test_a_missing_file_is_looked_for_as_often_as_its_list_is_cheap() -> None:
    cluster = Cluster(["model.bin"], seconds=12.0)

    with pytest.raises(NotFound, match=r"there is no metrics\.jsonl"):
        await cluster.find("metrics.jsonl")
    for _ in range(10):
        cluster.now += 20
        with pytest.raises(NotFound, match=r"there is no metrics\.jsonl"):
            await cluster.find("metrics.jsonl")
    assert cluster.lists == 1

    assert await cluster.find("model.bin")
    cluster.names.append("metrics.jsonl")
    cluster.now += 100
    assert await cluster.find("metrics.jsonl")


async def test_a_file_that_was_listed_since_is_there() -> None:
    cluster = Cluster([])
    with pytest.raises(NotFound):
        await cluster.find("stdout.txt")
    cluster.names.append("stdout.txt")

    cluster.addresses.listed("f")

    assert await cluster.find("stdout.txt") == "https://x/stdout.txt?2"


async def test_an_address_that_was_refused_is_asked_for_anew() -> None:
    cluster = Cluster(["a", "b"])
    await cluster.find("a")

    cluster.addresses.drop("f", "a")
    cluster.addresses.drop("unknown", "a")

    assert await cluster.find("b") == "https://x/b?1"
    assert await cluster.find("a") == "https://x/a?2"


async def test_what_is_kept_has_bounds() -> None:
    cluster = Cluster(["a", "b"], bounds=Bounds(folders=3, addresses=8, absences=2))
    for folder in "123":
        await cluster.find("a", folder)
    await cluster.find("a", "1")  # now it is not the oldest
    assert cluster.lists == 3

    await cluster.find("a", "4")
    await cluster.find("a", "1")
    assert cluster.lists == 4
    await cluster.find("a", "2")
    assert cluster.lists == 5

    for name in ("x", "y", "z"):
        with pytest.raises(NotFound):
            await cluster.find(name, "1")
    assert len(cluster.addresses._folders["1"].absences) == 1


async def test_a_search_in_vain_costs_no_download_its_addresses() -> None:
    cluster = Cluster(["a", "b"])
    await cluster.find("a")

    with pytest.raises(NotFound):
        await cluster.find("metrics.jsonl")

    assert await cluster.find("b") == "https://x/b?1"


async def test_those_who_wait_for_a_list_that_fails_get_its_error_and_no_list_of_their_own() -> None:
    lists, ends = [], asyncio.Event()

    async def fail(after: str) -> Listed:
        lists.append(after)
        await ends.wait()
        raise Transient("the cluster's API did not answer")

    addresses = Addresses()
    callers = [asyncio.create_task(addresses.find("f", name, fail)) for name in "abcde"]
    await asyncio.sleep(0)
    ends.set()

    outcomes = await asyncio.gather(*callers, return_exceptions=True)

    assert {type(outcome) for outcome in outcomes} == {Transient}
    assert len(lists) == 1
