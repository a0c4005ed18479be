"""How many requests a round of looks may take."""

from dataclasses import dataclass


@dataclass
class Allowance:
    """Requests that remain, of one's own and of a larger one that others share."""

    remaining: int
    shared: "Allowance | None" = None

    @property
    def spent(self) -> bool:
        """Whether none remains."""
        return self.remaining <= 0 or (self.shared is not None and self.shared.spent)

    def take(self) -> bool:
        """Use one request; False if none remains."""
        if self.spent:
            return False
        self.remaining -= 1
        return self.shared is None or self.shared.take()
