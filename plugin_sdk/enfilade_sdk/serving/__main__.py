"""`python -m enfilade_sdk.serving [--path DIR] [NAME=]package.module:Class ...`: a plugin process.

A host starts it so. By hand it needs an address: `--listen unix:PATH`, or `--listen grpcs://HOST:PORT` with the
files `--cert`, `--key` and `--ca`.
"""

import sys

from enfilade_sdk.serving.process import main

if __name__ == "__main__":
    main(sys.argv[1:])
