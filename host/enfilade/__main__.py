"""`python -m enfilade` is the `enfilade` command."""

import sys

from enfilade.cli import main

if __name__ == "__main__":
    sys.exit(main())
