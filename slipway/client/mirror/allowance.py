"""How many requests a round of looks may take."""

from dataclasses import dataclass


@dataclass
class Allowance:
    """Requests that are left, of one's own and of a larger one that others share."""

    left: int
    shared: "Allowance | None" = None

    @property
    def spent(self) -> bool:
        """Whether none is left."""
        return self.left <= 0 or (self.shared is not None and self.shared.spent)

    def take(self) -> bool:
        """Use one request; False if none is left."""
        if self.spent:
            return False
        self.left -= 1
        return self.shared is None or self.shared.take()
