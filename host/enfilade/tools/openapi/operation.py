"""The operations of a document."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urljoin

from enfilade.tools.openapi.document import Document
from enfilade.tools.openapi.failure import OperationFault
from enfilade.tools.openapi.references import References
from enfilade.tools.openapi.settings import is_http

METHODS = ("get", "post", "put", "patch", "delete")
"""Methods that become tools; the others are for browsers and proxies."""

Place = Literal["path", "query", "header", "cookie"]

_PLACES = ("path", "query", "header", "cookie")
_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_NOT_PARAMETERS = {"accept", "content-type", "authorization"}
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\Z|\*/\*\Z|application/\*\Z", re.IGNORECASE)
_BODIES = ("application/x-www-form-urlencoded", "multipart/form-data", "application/octet-stream", "text/plain")
_VARIABLE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter outside of the body.

    Attributes:
        name: Its name in the interface.
        place: Where it goes.
        schema: Its schema.
        required: Whether it has to be given.
        description: Words for the model.
        style: How lists and objects are written.
        explode: Whether their parts are written one by one.
        as_json: Whether it is written as JSON.
    """

    name: str
    place: Place
    schema: Any
    required: bool
    description: str
    style: str
    explode: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class Body:
    """What the body of a request is.

    Attributes:
        media_type: Its type; `application/json` for whatever is written as JSON and names no type of its own.
        kind: How it is written: `json`, `form`, `multipart`, `text`.
        schema: Its schema.
        required: Whether there has to be one.
        description: Words for the model.
    """

    media_type: str
    kind: Literal["json", "form", "multipart", "text"]
    schema: Any
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: a method of a path.

    Attributes:
        name: Its `operationId`; of one without, a name made of method and path.
        method: In capitals.
        path: With its parameters in braces.
        description: Words for the model.
        server: Where it is; empty where the document does not say.
        parameters: What goes into address, headers and cookies.
        body: What goes into the body; None for no body.
        schemes: Names of the ways to authenticate, one of which it wants; empty where it wants none.
    """

    name: str
    method: str
    path: str
    description: str
    server: str
    parameters: tuple[Parameter, ...]
    body: Body | None
    schemes: tuple[str, ...]

    @property
    def route(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that cannot be made a tool, and why."""

    name: str
    method: str
    path: str
    reason: str

    @property
    def route(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"


def operations_of(document: Document) -> Iterator[Operation | Refused]:
    """The operations of a document, in its order. Names are made unique."""
    references = References(document.root)
    taken: set[str] = set()
    for path, item in document.root["paths"].items():
        try:
            shared = references.followed(item)
        except OperationFault:
            continue
        if not isinstance(shared, dict) or not isinstance(path, str):
            continue
        for method in METHODS:
            if isinstance(described := shared.get(method), dict):
                name = _unique(_name(described, method, path), taken)
                try:
                    yield _Reader(document, references, shared, described).operation(name, method.upper(), path)
                except OperationFault as fault:
                    yield Refused(name, method.upper(), path, str(fault))


class _Reader:
    """Reads one operation.

    Args:
        document: The document.
        references: Follows its references.
        item: What is said of the path.
        described: What is said of the operation.
    """

    def __init__(
        self, document: Document, references: References, item: Mapping[str, Any], described: Mapping[str, Any]
    ) -> None:
        self._document = document
        self._references = references
        self._item = item
        self._described = described

    def operation(self, name: str, method: str, path: str) -> Operation:
        """The operation.

        Raises:
            OperationFault: It cannot be made a tool.
        """
        parameters = {**self._parameters(self._item), **self._parameters(self._described)}
        in_path = {name for name, place in parameters if place == "path"}
        if missing := set(_VARIABLE.findall(path)) - in_path:
            raise OperationFault(f"its path has {min(missing)!r}, and there is no such parameter")
        return Operation(
            name=name,
            method=method,
            path=path,
            description=self._description(method, path),
            server=self._server(),
            parameters=tuple(parameters.values()),
            body=self._body(),
            schemes=self._schemes(),
        )

    def _parameters(self, holder: Mapping[str, Any]) -> dict[tuple[str, str], Parameter]:
        listed = holder.get("parameters")
        found = [self._parameter(self._references.followed(one)) for one in listed] if isinstance(listed, list) else []
        return {(one.name, one.place): one for one in found if one is not None}

    def _parameter(self, given: Any) -> Parameter | None:
        name, place = (given.get("name"), given.get("in")) if isinstance(given, dict) else (None, None)
        if not isinstance(name, str) or place not in _PLACES:
            raise OperationFault("one of its parameters has no name, or no place where it goes")
        if place == "header" and name.lower() in _NOT_PARAMETERS:
            return None
        content = given.get("content")
        media = next(iter(content.values()), None) if isinstance(content, dict) else None
        style = given.get("style") if isinstance(given.get("style"), str) else _STYLES[place]
        explode = given.get("explode")
        return Parameter(
            name=name,
            place=cast(Place, place),
            schema=_schema_of(media if isinstance(media, dict) else given),
            required=place == "path" or given.get("required") is True,
            description=_words(given.get("description")),
            style=style,
            explode=explode if isinstance(explode, bool) else style == "form",
            as_json=isinstance(media, dict),
        )

    def _body(self) -> Body | None:
        given = self._references.followed(self._described.get("requestBody"))
        if not isinstance(given, dict):
            return None
        content = given.get("content")
        types = {str(name): media for name, media in content.items()} if isinstance(content, dict) else {}
        media_type, kind = _best(list(types))
        media = self._references.followed(types[media_type])
        return Body(
            media_type="application/json" if "*" in media_type else media_type,
            kind=kind,
            schema=_schema_of(media),
            required=given.get("required") is True,
            description=_words(given.get("description")),
        )

    def _description(self, method: str, path: str) -> str:
        said = [_words(self._described.get(key)) for key in ("summary", "description")]
        words = list(dict.fromkeys(word for word in said if word))
        mark = "Deprecated. " if self._described.get("deprecated") is True else ""
        return mark + "\n".join([*words, f"({method} {path})"])

    def _server(self) -> str:
        """The address that the nearest list of servers names first, made absolute."""
        for holder in (self._described, self._item, self._document.root):
            servers = holder.get("servers")
            first = servers[0] if isinstance(servers, list) and servers else None
            if isinstance(first, dict) and isinstance(url := first.get("url"), str):
                filled = _filled(url, first.get("variables"))
                address = urljoin(self._document.url, filled) if self._document.url else filled
                return address if is_http(address) else ""
        return urljoin(self._document.url, "/") if self._document.url else ""

    def _schemes(self) -> tuple[str, ...]:
        wanted = self._described.get("security", self._document.root.get("security"))
        if not isinstance(wanted, list) or any(not one for one in wanted):
            return ()
        return tuple(dict.fromkeys(str(name) for one in wanted if isinstance(one, dict) for name in one))


def _name(described: Mapping[str, Any], method: str, path: str) -> str:
    given = described.get("operationId")
    if isinstance(given, str) and given.strip():
        return given.strip()
    return re.sub(r"[^A-Za-z0-9]+", "_", f"{method} {path}").strip("_")


def _unique(name: str, taken: set[str]) -> str:
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free


def _schema_of(holder: Any) -> Any:
    schema = holder.get("schema") if isinstance(holder, dict) else None
    return schema if isinstance(schema, dict | bool) else {}


def _best(types: list[str]) -> tuple[str, Literal["json", "form", "multipart", "text"]]:
    """The type that is written for the model, and how.

    Raises:
        OperationFault: There is none that could be written.
    """
    plain = {name: name.partition(";")[0].strip().lower() for name in types}
    for name, bare in plain.items():
        if _JSON.match(bare):
            return name, "json"
    for wanted in _BODIES:
        for name, bare in plain.items():
            if bare == wanted:
                return name, "form" if "form-urlencoded" in bare else "multipart" if "multipart" in bare else "text"
    for name, bare in plain.items():
        if bare.startswith("text/"):
            return name, "text"
    shown = ", ".join(types[:5]) or "no type at all"
    raise OperationFault(f"its body is {shown}; expected JSON, a form, or text")


def _filled(url: str, variables: Any) -> str:
    """An address with its variables filled with their defaults."""

    def default(found: re.Match[str]) -> str:
        variable = variables.get(found[1]) if isinstance(variables, dict) else None
        value = variable.get("default") if isinstance(variable, dict) else None
        return str(value) if isinstance(value, str | int) else ""

    return _VARIABLE.sub(default, url)


def _words(value: Any) -> str:
    return " ".join(value.split())[:1_000] if isinstance(value, str) else ""
