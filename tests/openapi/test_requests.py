"""Where arguments go in a request."""

from typing import Any

import pytest

from enfilade.tools.entry import ToolEntry
from tests.openapi.conftest import Opened, body, operation, parameter
from tests.openapi.interface_server import InterfaceServer
from tests.support.tool_calls import call

STRINGS = {"type": "array", "items": {"type": "string"}}
OBJECT = {"type": "object"}


async def test_parameters_go_into_path_query_header_and_cookie(opened: Opened, server: InterfaceServer) -> None:
    parameters = [
        parameter("id", "path", schema={"type": "integer"}),
        parameter("fields", schema=STRINGS),
        parameter("X-Trace", "header"),
        parameter("theme", "cookie"),
        parameter("Accept", "header"),
        parameter("unused"),
    ]
    async with opened({"/pets/{id}": {"get": operation(parameters=parameters)}}) as engine:
        assert list(engine.menu()[0].parameters["properties"]) == ["id", "fields", "X-Trace", "theme", "unused"]
        assert engine.menu()[0].parameters["required"] == ["id"]
        await call(engine, "op", {"id": 7, "fields": ["a b", "c&d"], "X-Trace": "t1", "theme": "dark; x"})
    [asked] = server.asked
    assert (asked.method, asked.path) == ("GET", "/pets/7")
    assert asked.query == [("fields", "a b"), ("fields", "c&d")]
    assert asked.headers["x-trace"] == "t1"
    assert asked.headers["cookie"] == "theme=dark%3B%20x"
    assert asked.headers["accept"] == "application/json, */*;q=0.5"
    assert asked.body == b""


@pytest.mark.parametrize(
    ("declared", "value", "target"),
    [
        ({"schema": STRINGS}, ["a", "b"], "/x?p=a&p=b"),
        ({"schema": STRINGS}, [], "/x"),
        ({"schema": STRINGS, "explode": False}, ["a", "b"], "/x?p=a%2Cb"),
        ({"schema": STRINGS, "style": "pipeDelimited"}, ["a", "b"], "/x?p=a%7Cb"),
        ({"schema": STRINGS, "style": "spaceDelimited"}, ["a", "b"], "/x?p=a%20b"),
        ({"schema": OBJECT}, {"r": 1, "g": True}, "/x?r=1&g=true"),
        ({"schema": OBJECT, "explode": False}, {"r": 1, "g": 2}, "/x?p=r%2C1%2Cg%2C2"),
        (
            {"schema": OBJECT, "style": "deepObject"},
            {"r": 1, "g": {"b": [2, 3]}},
            "/x?p%5Br%5D=1&p%5Bg%5D%5Bb%5D=2&p%5Bg%5D%5Bb%5D=3",
        ),
        ({"schema": {"type": "number"}}, 1.5, "/x?p=1.5"),
        ({"schema": {"type": ["string", "null"]}}, None, "/x"),
        ({"schema": None, "content": {"application/json": {"schema": OBJECT}}}, {"a": 1}, "/x?p=%7B%22a%22%3A1%7D"),
        ({"in": "path", "schema": STRINGS}, ["a/b", "c"], "/x/a%2Fb,c"),
        ({"in": "path", "schema": STRINGS, "style": "label"}, ["a", "b"], "/x/.a,b"),
        ({"in": "path", "schema": STRINGS, "style": "label", "explode": True}, ["a", "b"], "/x/.a.b"),
        ({"in": "path", "schema": STRINGS, "style": "matrix"}, ["a", "b"], "/x/;p=a,b"),
        ({"in": "path", "schema": STRINGS, "style": "matrix", "explode": True}, ["a", "b"], "/x/;p=a;p=b"),
        ({"in": "path", "schema": OBJECT}, {"a": 1, "b": 2}, "/x/a,1,b,2"),
        ({"in": "path", "schema": OBJECT, "explode": True}, {"a": 1, "b": 2}, "/x/a=1,b=2"),
        ({"in": "path", "schema": OBJECT, "style": "matrix", "explode": True}, {"a": 1}, "/x/;a=1"),
    ],
)
async def test_every_style_writes_its_own_way(
    declared: dict[str, Any], value: Any, target: str, opened: Opened, server: InterfaceServer
) -> None:
    path = "/x/{p}" if declared.get("in") == "path" else "/x"
    async with opened({path: {"get": operation(parameters=[parameter("p", **declared)])}}) as engine:
        done = await call(engine, "op", {"p": value})
        assert not done.result.is_error, done.text
    assert server.asked[0].target == target


async def test_values_that_would_lead_to_another_path_are_refused(opened: Opened, server: InterfaceServer) -> None:
    parameters = [parameter("p", "path"), parameter("q", "path")]
    async with opened({"/x/{p}{q}/y": {"get": operation(parameters=parameters)}}) as engine:
        for one, two, fault in (
            (".", ".", "the values of p and q would lead to another path; give others"),
            ("", "a", "p: '' cannot be a part of a path; give another value"),
        ):
            done = await call(engine, "op", {"p": one, "q": two})
            assert done.result.is_error
            assert fault in done.text
        await call(engine, "op", {"p": "../../admin?x=1", "q": "#y"})
    assert [asked.target for asked in server.asked] == ["/x/..%2F..%2Fadmin%3Fx%3D1%23y/y"]


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "ü"])
async def test_a_value_that_no_header_can_hold_is_refused(value: str, opened: Opened, server: InterfaceServer) -> None:
    async with opened({"/x": {"get": operation(parameters=[parameter("X-A", "header")])}}) as engine:
        done = await call(engine, "op", {"X-A": value})
    assert done.result.is_error
    assert "a header holds plain ASCII text in one line" in done.text
    assert server.asked == []


PET = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "tags": STRINGS,
        "home": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "seen": {"type": "string", "readOnly": True}},
        },
    },
    "required": ["id", "name"],
}


async def test_the_fields_of_an_object_are_arguments_themselves(opened: Opened, server: InterfaceServer) -> None:
    paths = {"/pets": {"post": operation(requestBody=body({"$ref": "#/components/schemas/Pet"}))}}
    async with opened(paths, more={"components": {"schemas": {"Pet": PET}}}) as engine:
        schema = engine.menu()[0].parameters
        assert list(schema["properties"]) == ["name", "tags", "home"]
        assert schema["required"] == ["name"]
        assert list(schema["properties"]["home"]["properties"]) == ["street"]
        await call(engine, "op", {"name": "Rex", "tags": ["a"], "home": {"street": "Quay 1"}})
    [asked] = server.asked
    assert asked.json == {"name": "Rex", "tags": ["a"], "home": {"street": "Quay 1"}}
    assert asked.headers["content-type"] == "application/json"


async def test_arguments_of_one_name_are_kept_apart(opened: Opened, server: InterfaceServer) -> None:
    parameters = [parameter("id", "path"), parameter("id"), parameter("filter[name]")]
    fields = {"type": "object", "properties": {"id": {"type": "string"}, "$kind": {"type": "string"}}}
    paths = {"/pets/{id}": {"put": operation(parameters=parameters, requestBody=body(fields))}}
    async with opened(paths) as engine:
        names = ["id", "id_query", "filter_name", "id_body", "kind"]
        assert list(engine.menu()[0].parameters["properties"]) == names
        await call(engine, "op", dict(zip(names, "abcde", strict=True)))
    [asked] = server.asked
    assert asked.path == "/pets/a"
    assert asked.query == [("id", "b"), ("filter[name]", "c")]
    assert asked.json == {"id": "d", "$kind": "e"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "string"}]}, {"a": "b"}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"free": 1}),
        ({}, {"anything": None}),
        (True, [None]),
    ],
)
async def test_a_body_that_is_no_plain_object_is_one_argument(
    schema: Any, value: Any, opened: Opened, server: InterfaceServer
) -> None:
    async with opened({"/x": {"post": operation(requestBody=body(schema))}}) as engine:
        assert list(engine.menu()[0].parameters["properties"]) == ["body"]
        done = await call(engine, "op", {"body": value})
        assert not done.result.is_error, done.text
    assert server.asked[0].json == value


async def test_a_body_that_may_be_left_out_is_left_out(opened: Opened, server: InterfaceServer) -> None:
    fields = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    paths = {
        "/x": {"post": operation("may", requestBody=body(fields, required=False))},
        "/y": {"post": operation("must", requestBody=body({"type": "object", "properties": {"a": {}}}))},
    }
    async with opened(paths) as engine:
        await call(engine, "may")
        await call(engine, "must")
    assert [(asked.path, asked.body) for asked in server.asked] == [("/x", b""), ("/y", b"{}")]


async def test_forms_and_texts_are_written_as_such(opened: Opened, server: InterfaceServer) -> None:
    fields = {"type": "object", "properties": {"a": {"type": "string"}, "b": STRINGS, "c": OBJECT}}
    paths = {
        "/form": {"post": operation("form", requestBody=body(fields, "application/x-www-form-urlencoded"))},
        "/parts": {"post": operation("parts", requestBody=body(fields, "multipart/form-data"))},
        "/text": {"post": operation("text", requestBody=body({"type": "string"}, "text/plain"))},
        "/patch": {"patch": operation("patch", requestBody=body(OBJECT, "application/merge-patch+json"))},
    }
    async with opened(paths) as engine:
        given = {"a": "x&y", "b": ["1", "2"], "c": {"d": 1}}
        await call(engine, "form", given)
        await call(engine, "parts", given)
        await call(engine, "text", {"body": "grüße"})
        await call(engine, "patch", {"body": {"a": None}})
    form, parts, text, patch = server.asked
    assert form.body == b"a=x%26y&b=1&b=2&c=%7B%22d%22%3A1%7D"
    kind, _, mark = parts.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    assert parts.body.startswith(f'--{mark}\r\ncontent-disposition: form-data; name="a"\r\n\r\nx&y\r\n'.encode())
    assert parts.body.endswith(f"--{mark}--\r\n".encode())
    assert (text.headers["content-type"], text.body.decode()) == ("text/plain; charset=utf-8", "grüße")
    assert (patch.headers["content-type"], patch.json) == ("application/merge-patch+json", {"a": None})


async def test_the_users_parameters_are_fixed_in_the_entry(opened: Opened, server: InterfaceServer) -> None:
    fields = {"type": "object", "properties": {"currency": {"type": "string"}, "amount": {"type": "number"}}}
    entry = ToolEntry(tool="openapi:api", fixed={"currency": "EUR", "tenant": "t1"}, required=True)
    paths = {"/x": {"post": operation(parameters=[parameter("tenant")], requestBody=body(fields))}}
    async with opened(paths, entry) as engine:
        assert list(engine.menu()[0].parameters["properties"]) == ["amount"]
        await call(engine, "op", {"amount": 5, "currency": "USD"})
    assert server.asked[0].json == {"currency": "EUR", "amount": 5}
    assert server.asked[0].query == [("tenant", "t1")]


async def test_what_does_not_fit_is_told_to_the_model_before_anything_is_sent(
    opened: Opened, server: InterfaceServer
) -> None:
    paths = {
        "/x": {"get": operation(parameters=[parameter("n", schema={"type": "integer", "maximum": 5}, required=True)])}
    }
    async with opened(paths) as engine:
        assert (await call(engine, "op", {"n": 9})).result.is_error
        assert (await call(engine, "op", {})).result.is_error
        assert not (await call(engine, "op", {"n": "3"})).result.is_error
    assert [asked.target for asked in server.asked] == ["/x?n=3"]
