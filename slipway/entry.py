"""Where the command begins: what it needs is imported where a Ctrl-C is awaited already."""

import sys


def main() -> None:
    """Run the command line; a Ctrl-C, also one that comes at once, prints no traceback."""
    try:
        from slipway.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
