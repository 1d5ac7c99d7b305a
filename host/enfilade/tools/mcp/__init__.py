"""Tools of MCP servers: programs on this machine that speak over their pipes, and servers behind HTTP."""
