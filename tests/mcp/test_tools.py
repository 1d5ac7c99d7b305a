"""Which tools a server has, and what they are called."""

import pytest

from enfilade.tools.entry import ToolEntry
from enfilade_sdk.errors import EnfiladeError, ErrorCode, InvalidParamsError, ToolNotFoundError
from tests.support.mcp_setup import mcp_engine, mcp_registry, server
from tests.support.tool_calls import call


async def test_every_page_of_the_list_is_read_and_its_tools_can_be_called() -> None:
    async with mcp_engine({"harbour": server("Pages")}) as engine:
        assert engine.names == ["t01", "t02", "t03", "t04", "t05"]
        assert (await call(engine, "t05")).text == "t05 was called"


async def test_a_cursor_that_comes_again_ends_the_list_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with mcp_engine({"harbour": server("SameCursor")}) as engine:
        assert engine.names == ["t01"]
    assert (
        "the tool list of the MCP server 'harbour': its cursor 'same' came twice, so the list ends there" in caplog.text
    )


async def test_a_list_without_end_is_cut_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with mcp_engine({"harbour": server("EndlessPages")}) as engine:
        assert len(engine.names) == 5000
    assert "it has no end, so the rest of it is left out" in caplog.text


async def test_one_odd_tool_costs_none_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    async with mcp_engine({"harbour": server("OddList")}) as engine:
        assert engine.names == ["bare", "null", "untyped", "choice", "titled"]
        [refusal] = engine.report.refusals
        assert str(refusal) == (
            "the tool 'impossible' of mcp:harbour: "
            "its schema cannot be used: it is str 'an object'; expected an object schema"
        )
        menu = {tool.name: tool for tool in engine.menu()}
        assert menu["bare"].parameters == {"type": "object", "properties": {}}
        assert menu["untyped"].parameters["properties"] == {"n": {"type": "integer"}}
        assert menu["choice"].parameters["properties"] == {"a": {"type": "string"}}
        assert menu["titled"].description == "Reads the tide"
    assert "the tool 'bare' is there twice; the first one counts" in caplog.text
    assert "the tool 'task' runs only as a task, which is not done here; it is left out" in caplog.text
    assert "an entry is no tool with a name; it is left out (2 times)" in caplog.text


async def test_odd_results_are_passed_on_as_they_are() -> None:
    async with mcp_engine({"harbour": server("OddList")}) as engine:
        assert (await call(engine, "bare")).text == "not\na result"
        assert (await call(engine, "null")).text == "a text"


async def test_tools_may_be_chosen_by_name_and_get_a_name_of_their_own() -> None:
    chosen = ToolEntry(tool="mcp:harbour:quick", name="hurry", description="Be quick.", required=True)
    async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:echo, fail", chosen) as engine:
        assert engine.names == ["echo", "fail", "hurry"]
        assert engine.menu()[2].description == "Be quick."
        assert (await call(engine, "hurry")).text == "its own"


async def test_a_prefix_keeps_the_tools_of_two_servers_apart() -> None:
    servers = {"north": server("Good", prefix="north_"), "south": server("Good")}
    async with mcp_engine(servers) as engine:
        assert {"north_quick", "quick"} <= set(engine.names)
        assert (await call(engine, "north_echo", {"text": "hello"})).text == "hello"


async def test_two_servers_with_a_tool_of_one_name_are_refused_with_both_named() -> None:
    servers = {"north": server("Pages"), "south": server("Pages")}
    with pytest.raises(InvalidParamsError, match=r"two tools are named 't01': one from mcp:north .* mcp:south"):
        async with mcp_engine(servers):
            pass


async def test_the_users_parameters_are_fixed_and_not_offered() -> None:
    entry = ToolEntry(tool="mcp:harbour:echo", fixed={"text": "always this"}, required=True)
    async with mcp_engine({"harbour": server("Good")}, entry) as engine:
        assert engine.menu()[0].parameters["properties"] == {}
        assert (await call(engine, "echo", {"text": "something else"})).text == "always this"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            "mcp:harbor",
            r"there is no MCP server 'harbor' in the configuration \(\[mcp.harbor\]\). Did you mean 'harbour'",
        ),
        ("mcp:x", r"there is no MCP server 'x' in the configuration \(\[mcp.x\]\). There are: harbour."),
        ("mcp:harbour:", "expected the names of tools after the second colon"),
        ("mcp", "the tool 'mcp' needs to know more: mcp:SERVER"),
    ],
)
async def test_a_name_that_means_nothing_is_refused_before_anything_starts(spec: str, text: str) -> None:
    with mcp_registry({"harbour": server("Good")}) as registry, pytest.raises(EnfiladeError, match=text):
        registry.source(spec)


async def test_a_tool_that_the_server_does_not_have_is_named_with_near_ones() -> None:
    with pytest.raises(ToolNotFoundError, match=r"the MCP server 'harbour' has no tool 'quack'. Did you mean 'quick'"):
        async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:quack"):
            pass


async def test_a_server_that_has_no_tools_at_all_is_named() -> None:
    with pytest.raises(EnfiladeError, match="the MCP server 'harbour' has no tools") as caught:
        async with mcp_engine({"harbour": server("NoTools")}):
            pass
    assert caught.value.code is ErrorCode.TOOL_FAILED


async def test_a_server_that_fails_is_reported_and_the_other_tools_stay() -> None:
    entries = [ToolEntry(tool="mcp:harbour"), ToolEntry(tool="calculator")]
    async with mcp_engine({"harbour": server("DiesAtStart")}, *entries) as engine:
        assert engine.names == ["calculator"]
        [refusal] = engine.report.refusals
        assert str(refusal) == (
            "mcp:harbour: the MCP server 'harbour' broke off: exit code 2; its last lines:\n"
            "  no licence for this harbour"
        )


async def test_what_the_model_gives_is_checked_before_the_server_is_asked() -> None:
    async with mcp_engine({"harbour": server("Good")}, "mcp:harbour:echo") as engine:
        done = await call(engine, "echo", {"text": [1]})
    assert done.result.is_error
    assert "text" in done.text


async def test_a_version_that_is_not_known_is_warned_of_and_spoken_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with mcp_engine({"harbour": server("OldVersion")}) as engine:
        assert (await call(engine, "quick")).text == "its own"
    assert "speaks version '1999-12-31' of the protocol, which is not known here" in caplog.text
