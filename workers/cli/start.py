"""The entry point: loads the command, which takes a second, and ends quietly when Ctrl-C comes meanwhile."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # Exit.INTERRUPTED, which is not loaded yet


def main() -> None:
    """Load and run ``assay``."""
    try:
        from workers.cli.main import main as assay
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    assay()


if __name__ == "__main__":
    main()
