"""All ways to go wrong, by name."""

from tests.support.mcp_server import endings, floods, lines, lists, versions
from tests.support.mcp_server.good import Good

WAYS = {
    name: found
    for module in (endings, floods, lines, lists, versions)
    for name, found in vars(module).items()
    if isinstance(found, type) and issubclass(found, Good)
}
