"""The line at the end of a terminal that has not ended: a progress bar, which changes until it has."""

from typing import BinaryIO

#: To the first column, without what the terminal shows from there on.
_CLEAR = b"\r\x1b[K"


class Passing:
    """Shows one such line at a time. What else is written to the terminal clears it first."""

    def __init__(self) -> None:
        self._stream: BinaryIO | None = None
        self._text = ""

    def show(self, stream: BinaryIO, text: str) -> None:
        """Show a text of at most one row in place of the last one."""
        if self._stream is stream and self._text == text:
            return
        self.clear()
        self._stream, self._text = stream, text
        stream.write(text.encode("utf-8", "replace"))
        stream.flush()

    def clear(self) -> None:
        """Leave an empty line, in which the next text begins."""
        if self._stream is not None:
            self._stream.write(_CLEAR)
            self._stream.flush()
            self._stream = None


#: A process has one terminal.
PASSING = Passing()
