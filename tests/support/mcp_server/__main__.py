"""An MCP server without any library, on stdin and stdout, that goes wrong in the way it is told.

`python tests/support/mcp_server WAY [RECORD]`, from any folder; what it is sent goes to the file RECORD, a message a
line. `ways` has the ways.
"""

import importlib
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[3])
WAYS = importlib.import_module("tests.support.mcp_server.ways").WAYS
WAYS[sys.argv[1]](Path(sys.argv[2]) if len(sys.argv) > 2 else None).serve()
