"""What a command raises when it cannot go on for a reason that a person can mend."""


class Failure(Exception):
    """One line for a person: what is wrong, and what to do about it."""
