"""Mutants of what all engines have in common."""

from __future__ import annotations

from dataclasses import replace

import pytest

import shared.lifecycle.dispatch
from shared.core.engine import Order
from shared.engines.proofs import Proofs

Patch = pytest.MonkeyPatch


def earlier_attempts_left_alone(patch: Patch) -> None:
    patch.setattr(shared.lifecycle.dispatch, "earlier", lambda job: ())


def what_has_no_proof_counts(patch: Patch) -> None:
    patch.setattr(Proofs, "with_keys", lambda self, order: order)


def keys_of_earlier_attempts_left_out(patch: Patch) -> None:
    original = Proofs.with_keys

    def mutant(self: Proofs, order: Order) -> Order:
        own = original(self, replace(order, earlier=()))
        return replace(own, earlier=order.earlier)

    patch.setattr(Proofs, "with_keys", mutant)


def no_claim_on_the_nodes(patch: Patch) -> None:
    """A switch of the model, which each harness sets for it."""
