"""A program that saves when it is asked to end, and the ways in which a script of a person starts it."""

from __future__ import annotations

#: Saves for some seconds once it is asked, and counts how often it was.
SAVE = """\
import pathlib, signal, sys, time
root, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2])
def save(*_):
    with (root / "asked").open("a") as asked:
        asked.write("x")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.05)
    (root / "saved.new").write_text("all")
    (root / "saved.new").rename(root / "saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
(root / "began").write_text("")
time.sleep(600)
"""
#: How a person's script comes to start it.
WAYS = {
    "alone": "exec {save}",
    "below a shell": "{save}\necho after",
    "two shells deep": "sh -c '{save}; echo after'\necho after",
    "in the background": "{save} &\nwait",
    "in a group of its own": "set -m\n{save} &\nwait",
    "forked twice": "(({save}) &)\nsleep 600",
}
