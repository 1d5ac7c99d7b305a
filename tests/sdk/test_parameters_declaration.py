from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from enfilade_sdk.errors import ErrorCode, NotAdmittedError
from enfilade_sdk.parameters import (
    AgentStrategyParameter,
    ParameterDeclarationError,
    ParameterType,
    parameters_of,
)


def faults_of(*values: object) -> list[dict[str, str]]:
    with pytest.raises(ParameterDeclarationError) as caught:
        parameters_of(values)
    faults: list[dict[str, str]] = caught.value.details["faults"]
    return faults


def test_a_full_declaration_is_read_and_written_back() -> None:
    form = {
        "name": "temperature",
        "label": {"en_US": "Temperature", "de": "Temperatur"},
        "help": "How freely the model chooses",
        "type": "number",
        "required": True,
        "default": 0.5,
        "min": 0,
        "max": 2,
        "precision": 1,
    }
    [parameter] = parameters_of([form])
    assert parameter.to_json() == form
    assert parameters_of([parameter.to_json()]) == [parameter]


def test_options_may_be_texts_or_pairs_of_value_and_label() -> None:
    [parameter] = parameters_of(
        [{"name": "style", "type": "select", "options": ["brief", {"value": "full", "label": {"en_US": "Full"}}]}]
    )
    assert parameter.choices == ("brief", "full")
    assert parameters_of([parameter.to_json()]) == [parameter]


@pytest.mark.parametrize("spelling", ["tools", "array[tools]"])
def test_both_spellings_of_tools_are_the_same_type(spelling: str) -> None:
    [parameter] = parameters_of([{"name": "t", "type": spelling}])
    assert parameter.type is ParameterType.TOOLS
    assert parameter.to_json()["type"] == "array[tools]"


def test_none_in_a_declaration_is_a_field_left_out() -> None:
    dumped = dict.fromkeys(AgentStrategyParameter.model_fields) | {"name": "x", "type": "string"}
    assert parameters_of([dumped]) == [AgentStrategyParameter(name="x", type=ParameterType.STRING)]


def test_a_declaration_is_a_value_that_cannot_be_changed() -> None:
    parameter = AgentStrategyParameter(name="x", type=ParameterType.STRING)
    with pytest.raises(ValueError, match="frozen"):
        parameter.name = "y"  # type: ignore[misc]  # the test is that it fails


@pytest.mark.parametrize(
    ("form", "expected", "remedy"),
    [
        ({"type": "select"}, "options on the type 'select'", "list what can be chosen"),
        ({"type": "select", "options": []}, "options on the type 'select'", "list what can be chosen"),
        ({"type": "select", "options": ["a", "a"]}, "different options", "list each option once"),
        (
            {"type": "select", "options": ["a"], "default": "b"},
            "a default that is one of 'a'",
            "choose one of the options",
        ),
        (
            {"type": "select", "options": ["a"], "multiple": True, "default": "a"},
            "a default that is a list of different options among 'a'",
            "give a list of options",
        ),
        ({"type": "string", "options": ["a"]}, "options only on the type 'select'", "leave options out, or change"),
        ({"type": "string", "multiple": True}, "multiple only on the type 'select'", "leave multiple out"),
        ({"type": "string", "precision": 2}, "precision only on the type 'number'", "leave precision out"),
        ({"type": "string", "min": 0}, "min only on the type 'number'", "leave min out"),
        ({"type": "array", "max": 0}, "max only on the type 'number'", "leave max out"),
        ({"type": "number", "min": 2, "max": 1}, "a min that is not above max", "swap or correct them"),
        (
            {"type": "number", "min": 0.2, "max": 0.8, "precision": 0},
            "at least one number between min and max",
            "widen the bounds or raise precision",
        ),
        ({"type": "number", "min": True}, "min to be a finite number", "give a number or leave it out"),
        ({"type": "number", "max": float("nan")}, "max to be a finite number", "give a number or leave it out"),
        ({"type": "number", "max": 10**400}, "max to be a finite number", "give a number or leave it out"),
        ({"type": "number", "precision": -1}, "precision to be a whole number of decimal places", "correct it"),
        ({"type": "number", "precision": 0.5}, "precision to be a whole number of decimal places", "correct it"),
        ({"type": "number", "default": "3"}, "a default that is a number", "give it without quotes"),
        ({"type": "number", "max": 3, "default": 4}, "a default that is a number of at most 3", "give at most 3"),
        ({"type": "boolean", "default": 1}, "a default that is true or false", "give true or false"),
        ({"type": "object", "default": {1: 2}}, "a default that is an object", "give a JSON value"),
        ({"type": "string", "scope": "image"}, "no scope on the type 'string'", "leave scope out"),
        ({"type": "files", "scope": "imagge"}, "a scope of the words all, image", "did you mean 'image'?"),
        ({"type": "number", "auto_generate": {"type": "prompt_instruction"}}, "auto_generate only on", "leave auto"),
        ({"type": "number", "template": {"enabled": True}}, "template only on the type 'string'", "leave template"),
        ({"type": "string", "required": "yes"}, "required to be a valid boolean", "correct it"),
        ({"type": "string", "label": 3}, "label to be a text, or an object of texts by language", 'write it as "..."'),
        ({"type": "string", "help": {"en_US": 3}}, "help to be a text, or an object of texts by lang", "write it as"),
        ({"type": "strng"}, "type to be one of the types string, number", "did you mean 'string'?"),
        ({"type": None}, "the field 'type'", "add it"),
        ({"type": "string", "defualt": "x"}, "only the fields name, type, label", "did you mean 'default'?"),
        ({"type": "string", "zzz": "x"}, "only the fields name, type, label", "leave it out"),
    ],
)
def test_a_declaration_at_fault_says_what_was_expected_and_what_to_do(
    form: dict[str, Any], expected: str, remedy: str
) -> None:
    [fault] = faults_of({"name": "x", **form})
    assert fault["parameter"] == "x"
    assert fault["expected"].startswith(expected)
    assert fault["remedy"].startswith(remedy)


@pytest.mark.parametrize("name", ["", "9lives", "a b", "a=b", "a\n", "ä", "x" * 65, 5])
def test_a_name_that_no_command_line_could_carry_is_refused(name: object) -> None:
    [fault] = faults_of({"name": name, "type": "string"})
    assert fault["expected"].startswith("name to be 1 to 64 letters")


def test_all_faults_of_all_declarations_come_at_once() -> None:
    faults = faults_of(
        {"name": "a", "type": "number", "min": 3, "max": 1, "precison": 1, "required": "yes"},
        {"name": "b", "type": "string"},
        {"name": "b", "type": "selekt"},
        {"type": "string"},
        7,
    )
    assert [(f["parameter"], f["expected"].split(",")[0]) for f in faults] == [
        ("a", "required to be a valid boolean"),
        ("a", "only the fields name"),
        ("a", "a min that is not above max"),
        ("b", "type to be one of the types string"),
        ("unnamed", "the field 'name'"),
        ("parameter 5", "an AgentStrategyParameter"),
        ("b", "every name once"),
    ]


def test_the_error_is_one_of_admission_and_names_every_fault_in_its_text() -> None:
    with pytest.raises(NotAdmittedError) as caught:
        parameters_of([{"name": "a", "type": "select"}, {"name": "b", "type": "number", "min": "0"}])
    assert caught.value.code is ErrorCode.NOT_ADMITTED
    assert caught.value.message.splitlines() == [
        "the declared parameters are not valid (2 faults):",
        "- a: expected options on the type 'select', found none; list what can be chosen",
        "- b: expected min to be a finite number, found the text '0'; give a number or leave it out",
    ]


def test_making_a_parameter_directly_checks_it_as_well() -> None:
    with pytest.raises(ParameterDeclarationError, match=r"^the declared parameters are not valid: x: expected options"):
        AgentStrategyParameter(name="x", type=ParameterType.SELECT)


def test_a_secret_takes_no_default_and_does_not_show_one() -> None:
    with pytest.raises(ParameterDeclarationError) as caught:
        parameters_of([{"name": "key", "type": "secret-input", "default": "hunter2"}])
    assert "no default on the type 'secret-input'" in caught.value.message
    assert "hunter2" not in caught.value.message + repr(caught.value.details)


@pytest.mark.parametrize("values", [None, "text", {"name": "x", "type": "string"}, 5])
def test_something_other_than_a_list_of_parameters_is_named(values: Any) -> None:
    with pytest.raises(ParameterDeclarationError, match="expected a list of parameters, found"):
        parameters_of(values)


def test_a_generator_of_declarations_is_a_list_too() -> None:
    made = parameters_of({"name": name, "type": "any"} for name in ("a", "b"))
    assert [parameter.name for parameter in made] == ["a", "b"]


class ForeignType(Enum):
    SELECT = "select"


class ForeignText(BaseModel):
    en_US: str  # noqa: N815 - languages are spelled so elsewhere
    ja_JP: str | None = None  # noqa: N815


class ForeignOption(BaseModel):
    value: str
    label: ForeignText
    icon: str | None = None


class ForeignModel(BaseModel):
    name: str
    label: ForeignText
    type: ForeignType
    options: list[ForeignOption]
    default: str | None = None
    precision: int | None = None
    placeholder: str | None = "choose"


@dataclass
class ForeignObject:
    name: str = "limit"
    type: str = "number"
    min: int = 1
    options: list[str] = field(default_factory=list)
    form: str = "llm"


def test_foreign_objects_of_the_same_shape_are_read_by_the_members_they_share() -> None:
    style = ForeignModel(
        name="style",
        label=ForeignText(en_US="Style"),
        type=ForeignType.SELECT,
        options=[ForeignOption(value="a", label=ForeignText(en_US="A"), icon="a.svg")],
        default="a",
    )
    assert [parameter.to_json() for parameter in parameters_of([style, ForeignObject()])] == [
        {
            "name": "style",
            "type": "select",
            "label": {"en_US": "Style"},
            "default": "a",
            "options": [{"value": "a", "label": {"en_US": "A"}}],
        },
        {"name": "limit", "type": "number", "min": 1},
    ]


@pytest.mark.parametrize(
    ("label", "language", "title"),
    [
        ("Style", "de", "Style"),
        ("", "de", "x"),
        ({"en_US": "Style", "de_DE": "Stil"}, "de_DE", "Stil"),
        ({"en_US": "Style", "de_DE": "Stil"}, "de", "Stil"),
        ({"en-US": "Style", "de": "Stil"}, "de-AT", "Stil"),
        ({"en_US": "Style", "de": "Stil"}, "fr", "Style"),
        ({"zh_Hans": "风格"}, "fr", "风格"),
        ({"zh_Hant": "風格", "zh_Hans": "风格"}, "zh_Hans", "风格"),
        ({}, "en_US", "x"),
    ],
)
def test_a_title_is_in_the_language_asked_for_else_in_english_else_in_what_there_is(
    label: str | dict[str, str], language: str, title: str
) -> None:
    assert AgentStrategyParameter(name="x", type=ParameterType.STRING, label=label).title(language) == title
