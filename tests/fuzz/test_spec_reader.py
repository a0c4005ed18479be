"""The inputs of the fuzz target, changed by a seed: a short run of what `make fuzz` does for longer."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.spec_reader import mutated, one, seeds


@pytest.mark.parametrize("seed", range(8))
def test_the_spec_reader_answers_every_input(seed: int) -> None:
    dice = Random(seed)
    texts = seeds()
    for _ in range(40):
        one(mutated(dice.choice(texts), dice))


def test_the_seeds_themselves_are_read() -> None:
    assert len(seeds()) > 3
    for text in seeds():
        one(text)
