"""A folder with the data and jobs of a user: no other user of the machine may enter it."""

from pathlib import Path


def private_folder(folder: Path, mark: str) -> None:
    """Make it, or close it if an earlier version made it: then the file `mark` is in it. Raises OSError.

    Another folder that is there already, as one that a person named, keeps its mode.
    """
    is_own = not folder.exists() or (folder / mark).exists()
    folder.mkdir(parents=True, exist_ok=True)
    if is_own:
        folder.chmod(0o700)
