"""Documents of every make, and those that are none."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade.tools.entry import ToolEntry
from enfilade.tools.functions.threads import Threads
from enfilade.tools.loader import load_tools
from enfilade.tools.openapi.document import Document
from enfilade.tools.openapi.failure import DocumentError
from enfilade.tools.openapi.kind import openapi_kind
from enfilade.tools.openapi.operation import Operation, Refused, operations_of
from enfilade.tools.openapi.yaml_text import read_yaml
from enfilade.tools.registry import SourceRegistry, builtin_kinds
from enfilade_sdk.errors import EnfiladeError, ToolNotFoundError
from tests.openapi.conftest import Opened, body, operation, parameter
from tests.openapi.interface_server import Answer, InterfaceServer
from tests.support.tool_calls import call

YAML = """\
openapi: 3.0.3
info: {title: Tides, version: 2026-01-01}
servers:
  - url: SERVER
paths:
  /tides/{port}:
    parameters:
      - &port {name: port, in: path, required: true, schema: {type: string, enum: [no, on, 1e3, 2026-01-01, Oban]}}
    get:
      operationId: tides
      summary: Tells the tides.
      description: |
        High and low water.
      responses:
        200: {description: fine}
"""


async def load(folder: Path, spec: str) -> list[str]:
    """The names of a document's tools."""
    registry = SourceRegistry(folder, Threads(), kinds=[*builtin_kinds(), openapi_kind()])
    engine = await load_tools([ToolEntry(tool=spec, required=True)], registry)
    await engine.aclose()
    registry.close()
    return engine.names


async def test_yaml_is_read_with_the_values_of_json(tmp_path: Path, server: InterfaceServer) -> None:
    (tmp_path / "tides.yaml").write_text(YAML.replace("SERVER", server.url))
    registry = SourceRegistry(tmp_path, Threads(), kinds=[openapi_kind()])
    engine = await load_tools([ToolEntry(tool="openapi:tides.yaml", required=True)], registry)
    [tool] = engine.menu()
    assert tool.description == "Tells the tides.\nHigh and low water.\n(GET /tides/{port})"
    assert tool.parameters["properties"]["port"]["enum"] == ["no", "on", 1000.0, "2026-01-01", "Oban"]
    await call(engine, "tides", {"port": "no"})
    assert server.asked[0].target == "/tides/no"
    await engine.aclose()


async def test_a_document_is_fetched_and_its_server_is_found_from_there(server: InterfaceServer) -> None:
    document = {"openapi": "3.1.0", "servers": [{"url": "../v2"}], "paths": {"/x": {"get": operation("look")}}}
    server.answers["GET /docs/api.json"] = Answer(json.dumps(document).encode())
    server.answers["GET /api"] = Answer(b"", 302, headers={"location": "/docs/api.json"})
    registry = SourceRegistry(Path(), Threads(), kinds=[openapi_kind()])
    engine = await load_tools([ToolEntry(tool=f"openapi:{server.url}/api#look", required=True)], registry)
    await call(engine, "look")
    assert [asked.target for asked in server.asked] == ["/api", "/docs/api.json", "/v2/x"]
    await engine.aclose()


@pytest.mark.parametrize(
    ("servers", "target"),
    [
        (
            {"servers": [{"url": "{base}/{v}", "variables": {"v": {"default": "v3"}, "base": {"default": "BASE"}}}]},
            "/v3/x",
        ),
        ({"servers": [{"url": "BASE/a?k=1"}, {"url": "BASE/b"}]}, "/a/x?k=1"),
        ({"servers": [{"url": "BASE/"}]}, "/x"),
    ],
)
async def test_the_address_comes_from_the_document(
    servers: dict[str, Any], target: str, opened: Opened, server: InterfaceServer
) -> None:
    more = json.loads(json.dumps(servers).replace("BASE", server.url))
    async with opened({"/x": {"get": operation()}}, more=more) as engine:
        await call(engine, "op")
    assert server.asked[0].target == target


async def test_an_operation_may_have_a_server_of_its_own_and_the_operator_overrides_all(
    opened: Opened, server: InterfaceServer
) -> None:
    paths = {"/x": {"get": operation(servers=[{"url": f"{server.url}/own"}])}}
    async with opened(paths) as engine:
        await call(engine, "op")
    async with opened(paths, base_url=f"{server.url}/mine/") as engine:
        await call(engine, "op")
    assert [asked.target for asked in server.asked] == ["/own/x", "/mine/x"]


@pytest.mark.parametrize("servers", [[], [{"url": "/v1"}], [{"url": "ftp://h"}], [{}], "x"])
async def test_a_document_that_does_not_say_where_it_is_needs_an_address(servers: Any, opened: Opened) -> None:
    with pytest.raises(DocumentError, match=r"api\.json does not say where the interface is: set base_url"):
        async with opened({"/x": {"get": operation()}}, more={"servers": servers}):
            pass


async def test_operations_are_chosen_by_name_route_and_pattern(opened: Opened) -> None:
    paths = {
        "/pets": {"get": operation("listPets"), "post": operation("addPet"), "options": operation("options")},
        "/pets/{id}": {
            "parameters": [parameter("id", "path")],
            "get": operation("showPet"),
            "delete": {"responses": {}},
        },
    }
    async with opened(paths) as engine:
        assert engine.names == ["listPets", "addPet", "showPet", "delete_pets_id"]
    async with opened(paths, operations=["*Pet", "DELETE /pets/*"]) as engine:
        assert engine.names == ["addPet", "showPet", "delete_pets_id"]
    async with opened(paths, "openapi:api#GET /pets, addPet", operations=["showPet"], prefix="zoo_") as engine:
        assert engine.names == ["zoo_listPets", "zoo_addPet"]
    with pytest.raises(
        ToolNotFoundError, match=r"openapi:api#listPet has no operation 'listPet'. Did you mean 'listPets'"
    ):
        async with opened(paths, "openapi:api#listPet"):
            pass


async def test_two_operations_of_one_name_get_different_ones(opened: Opened) -> None:
    async with opened({"/a": {"get": operation("same")}, "/b": {"get": operation("same")}}) as engine:
        assert engine.names == ["same", "same_2"]


async def test_references_are_followed_and_cycles_kept(opened: Opened, server: InterfaceServer) -> None:
    node = {
        "type": "object",
        "properties": {"label": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}},
        "required": ["label"],
    }
    components: dict[str, Any] = {
        "schemas": {"Node": node, "Self": {"$ref": "#/components/schemas/Self"}},
        "parameters": {"Depth": parameter("depth", schema={"$ref": "#/components/schemas/Depth~1x"})},
        "requestBodies": {"Tree": body({"$ref": "#/components/schemas/Node"})},
    }
    components["schemas"]["Depth/x"] = {"type": "integer"}
    paths = {
        "/tree": {
            "post": operation(
                "tree",
                parameters=[{"$ref": "#/components/parameters/Depth"}],
                requestBody={"$ref": "#/components/requestBodies/Tree"},
            )
        },
        "/self": {"post": operation("self", requestBody=body({"$ref": "#/components/schemas/Self"}))},
        "/alias": {"$ref": "#/paths/~1tree"},
    }
    async with opened(paths, more={"components": components}) as engine:
        assert engine.names == ["tree", "self", "tree_2"]
        nested = {"label": "a", "next": {"label": "b", "next": {"label": "c"}}}
        await call(engine, "tree", {**nested, "depth": 3})
        wrong = await call(engine, "tree", {"label": "a", "next": {"next": {}}})
        assert wrong.result.is_error
        assert not (await call(engine, "self", {"body": "anything"})).result.is_error
    assert server.asked[0].json == nested
    assert server.asked[0].query == [("depth", "3")]


async def test_operations_that_cannot_be_tools_are_left_out_with_the_reason(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    paths: dict[str, Any] = {
        "/good": {"get": operation("good")},
        "/xml": {"post": operation("xml", requestBody=body({}, "application/xml"))},
        "/{lost}": {"get": operation("lost")},
        "/ref": {"get": operation("ref", parameters=[{"$ref": "#/components/parameters/Nowhere"}])},
        "/loop": {"get": operation("loop", parameters=[{"$ref": "#/paths/~1loop/get/parameters/0"}])},
        "/other": {"get": operation("other", parameters=[{"$ref": "other.yaml#/p"}])},
        "/odd": {"get": operation("odd", parameters=["x"]), "post": "nothing"},
        "/gone": {"$ref": "#/nowhere"},
        "/none": None,
    }
    async with opened(paths) as engine:
        assert engine.names == ["good"]
    for text in (
        "'xml': its body is application/xml; expected JSON, a form, or text",
        "'lost': its path has 'lost', and there is no such parameter",
        "'ref': it refers to '#/components/parameters/Nowhere', which is not in the document",
        "'loop': it refers to '#/paths/~1loop/get/parameters/0', which leads back to itself",
        "'other': it refers to 'other.yaml#/p', which is not in the document",
        "'odd': one of its parameters has no name, or no place where it goes",
    ):
        assert f"openapi:api: no tool is made of {text}" in caplog.text
    with pytest.raises(
        DocumentError, match="openapi:api#xml: no tool can be made of 'xml': its body is application/xml"
    ):
        async with opened(paths, "openapi:api#xml"):
            pass


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.json", "{", "a.json is not valid JSON"),
        ("a.yaml", "a: [1", "a.yaml is not valid YAML"),
        ("a.yaml", "- 1", "a.yaml is no OpenAPI document: expected an object, got list"),
        ("a.yaml", "", "a.yaml is no OpenAPI document: expected an object, got NoneType"),
        ("a.json", '{"swagger": "2.0"}', "a.json is Swagger 2.0; expected OpenAPI 3.0 or 3.1: convert it"),
        ("a.json", '{"openapi": "4.0"}', "a.json is no OpenAPI document: expected openapi: 3.0 or 3.1, got '4.0'"),
        ("a.json", '{"a": 1}', "a.json is no OpenAPI document: expected openapi: 3.0 or 3.1, got 'None'"),
        ("a.json", '{"openapi": "3.0.0"}', "a.json describes no paths"),
        ("a.json", '{"openapi": "3.0.0", "paths": {}}', "openapi:a.json describes no operations"),
        ("a.json", "[" * 100_000, "is not valid YAML: while increasing flow level"),
        ("a.json", '{"a":' * 100_000, "is not valid JSON"),
    ],
)
async def test_what_is_no_document_is_refused_with_the_reason(name: str, text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(EnfiladeError) as caught:
        await load(tmp_path, f"openapi:{name}")
    assert fault in caught.value.message


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("openapi:nowhere.yaml", "the OpenAPI document 'nowhere.yaml' cannot be read: No such file or directory"),
        ("openapi:.", "the OpenAPI document '.' cannot be read: Is a directory"),
        ("openapi:http://127.0.0.1:1/x", "the OpenAPI document http://127.0.0.1:1/x cannot be fetched: ConnectError"),
        (
            "openapi:http://a:b@127.0.0.1:1/x?key=hush",
            "the OpenAPI document http://***@127.0.0.1:1/x?key=*** cannot be",
        ),
        ("openapi:SERVER/missing", "cannot be fetched: HTTP 404"),
        ("openapi:SERVER/round", "cannot be fetched: it is always elsewhere, last at "),
        ("openapi:SERVER/binary", "is no OpenAPI document: expected UTF-8 text"),
        ("openapi:a.json#", "expected a document and, after #, names of operations"),
        ("openapi:", "needs to know more: openapi:FILE_OR_URL"),
    ],
)
async def test_a_document_that_cannot_be_had_is_named(
    spec: str, fault: str, tmp_path: Path, server: InterfaceServer
) -> None:
    server.answers["GET /missing"] = Answer(b"", 404)
    server.answers["GET /round"] = Answer(b"", 301, headers={"location": "/round"})
    server.answers["GET /binary"] = Answer(b"\xff\xfe\0")
    with pytest.raises(EnfiladeError) as caught:
        await load(tmp_path, spec.replace("SERVER", server.url))
    assert fault in caught.value.message


async def test_a_document_above_the_limit_is_refused(
    tmp_path: Path, server: InterfaceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("enfilade.tools.openapi.document.MAX_BYTES", 1000)
    (tmp_path / "a.json").write_text("x" * 1001)
    server.answers["GET /large"] = Answer(b"x" * 1001)
    for spec in ("openapi:a.json", f"openapi:{server.url}/large"):
        with pytest.raises(DocumentError, match="1,000"):
            await load(tmp_path, spec)


def test_yaml_without_the_package_for_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(DocumentError, match=r"api.yaml is YAML, .*: pip install 'enfilade\[openapi\]'"):
        read_yaml("a: 1", "api.yaml")


async def test_aliases_that_multiply_or_hold_themselves_do_no_harm(tmp_path: Path) -> None:
    lines = ["a0: &a0 {type: string}"]
    lines += [
        f"a{n}: &a{n} {{type: object, properties: {{x: *a{n - 1}, y: *a{n - 1}, z: *a{n - 1}}}}}" for n in range(1, 40)
    ]
    text = "openapi: 3.1.0\nservers: [{url: 'http://h/'}]\nx-defs:\n  " + "\n  ".join(lines)
    text += "\n  loop: &loop {type: object, properties: {self: *loop}}\npaths:\n"
    for name, alias in (("many", "a39"), ("loop", "loop"), ("few", "a1")):
        media = f"{{content: {{application/json: {{schema: *{alias}}}}}}}"
        text += f"  /{name}: {{post: {{operationId: {name}, requestBody: {media}}}}}\n"
    (tmp_path / "a.yaml").write_text(text)
    assert await load(tmp_path, "openapi:a.yaml") == ["few"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["#/x", "#/paths/~1a", "query"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["$ref", "name", "in", "schema", "content", "get", "parameters", "servers", "url", "security"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["/a", "/{b}", "x"]), VALUES, max_size=3), VALUES)
def test_whatever_stands_in_a_document_is_an_operation_or_a_reason(paths: dict[str, Any], servers: Any) -> None:
    document = Document({"openapi": "3.1.0", "servers": servers, "paths": paths}, "x", "http://h/x")
    for one in operations_of(document):
        assert isinstance(one, Operation | Refused)
