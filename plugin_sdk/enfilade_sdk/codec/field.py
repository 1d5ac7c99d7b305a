"""The value in one field of the wire, read as the class it should be."""

from typing import Any

from pydantic import BaseModel, ValidationError

from enfilade_sdk.errors import ProtocolError


def value_of(cls: type[BaseModel], value: Any, what: str) -> Any:
    """A field's value as the class it should be.

    Args:
        cls: The class.
        value: What came.
        what: The field's name, for the error's text.

    Raises:
        ProtocolError: It is none; the text says what was expected, what came, and why that does not do.
    """
    try:
        return cls.model_validate(value)
    except ValidationError as error:
        raise ProtocolError(
            f"field {what}: expected a {cls.__name__}, got {str(value)[:80]!r} ({why(error)})"
        ) from None


def why(error: ValidationError) -> str:
    """What is wrong with a value, in words: the first five faults with their places."""
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
