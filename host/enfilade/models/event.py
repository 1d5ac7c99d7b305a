"""One event's data, read into a value."""

import json
import re
from typing import Any

import orjson

_OBJECT = re.compile(rb'"arguments"\s*:\s*[{\[]')


def read_event(data: bytes) -> Any:
    """Reads JSON as leniently as can be done without guessing.

    Bytes that are not UTF-8 become U+FFFD; lone surrogates, which a server makes when it cuts an escaped character in
    two, are left for whoever joins the text.

    Raises:
        ValueError: It is no JSON.
    """
    if b'"arguments"' in data and _OBJECT.search(data):  # numbers of any size are kept whole
        return json.loads(data.decode("utf-8", "replace"))
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
