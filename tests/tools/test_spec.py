import pytest

from enfilade.tools.spec import FileSpec, ModuleSpec, NamedSpec, read_spec
from enfilade_sdk.errors import InvalidParamsError

KINDS = ("calculator", "read_file", "mcp")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("calculator", NamedSpec("calculator")),
        (" calculator ", NamedSpec("calculator")),
        ("read_file:notes", NamedSpec("read_file", "notes")),
        ("read_file:/a:b/c.py", NamedSpec("read_file", "/a:b/c.py")),
        ("mcp:files", NamedSpec("mcp", "files")),
        ("mcp", NamedSpec("mcp")),
        ("tide-table", NamedSpec("tide-table")),
        ("tools.py", FileSpec("tools.py")),
        ("tools.py:weather", FileSpec("tools.py", ("weather",))),
        ("tools.py:weather, tide", FileSpec("tools.py", ("weather", "tide"))),
        ("tools.py:Station.weather", FileSpec("tools.py", ("Station.weather",))),
        ("a b/tools.py:weather", FileSpec("a b/tools.py", ("weather",))),
        ("/abs/tools.py:weather", FileSpec("/abs/tools.py", ("weather",))),
        ("package.module:weather", ModuleSpec("package.module", ("weather",))),
        ("json:dumps,loads", ModuleSpec("json", ("dumps", "loads"))),
    ],
)
def test_each_form_is_read(text: str, spec: object) -> None:
    assert read_spec(text, KINDS) == spec


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' names no tool; expected a name such as calculator, FILE.py:FUNCTION"),
        (":x", "names no tool"),
        ("a-b:c", "names no tool"),
        ("json:", "names no tool"),
        ("tools.py:", "'' is not the name of a function"),
        ("tools.py:a b", "'a b' is not the name of a function"),
        ("json:dumps()", "'dumps()' is not the name of a function"),
    ],
)
def test_what_has_no_form_is_refused_with_the_forms(text: str, words: str) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        read_spec(text, KINDS)
    assert words in caught.value.message
