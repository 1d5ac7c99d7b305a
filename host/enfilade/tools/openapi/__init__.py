"""Tools of OpenAPI documents: each operation of an HTTP interface is a tool."""
