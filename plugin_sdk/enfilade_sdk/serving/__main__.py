"""`python -m enfilade_sdk.serving [--path DIR] [NAME=]package.module:Class ...`: a plugin process."""

import sys

from enfilade_sdk.serving.process import main

if __name__ == "__main__":
    main(sys.argv[1:])
