"""A tool: a function with a signature and a docstring."""


def tide(port: str) -> str:
    """Tells when the tide is high.

    Args:
        port: The port's name.
    """
    return f"high tide in {port} is at 06:10"
