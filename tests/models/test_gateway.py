"""Finding models by name, and asking whoever answers for them."""

from collections.abc import AsyncGenerator

import pytest
from pydantic import ValidationError

from enfilade.models.gateway import ModelGateway, ModelNotFoundError
from enfilade.models.settings import ModelSettings
from enfilade_sdk.errors import ErrorCode
from enfilade_sdk.invocation import ModelInfo
from enfilade_sdk.prompts import AssistantMessage, ModelChunk, ModelRequest, ModelResult, UserMessage
from tests.support.model_calls import ask

BASE = "http://127.0.0.1:1/v1"


class Parrot:
    """A provider of one's own."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.warmed: list[str] = []
        self.closed = False

    def info(self, model: ModelSettings) -> ModelInfo:
        return model.info()

    def warm(self, model: ModelSettings) -> None:
        self.warmed.append(model.name)

    async def stream(
        self, model: ModelSettings, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk | ModelResult, None]:
        text = f"{model.name}: {request.messages[0].content}"
        yield ModelChunk(text)
        yield ModelResult(AssistantMessage(content=text))

    async def aclose(self) -> None:
        self.closed = True


def test_the_demo_model_is_always_there_and_is_the_default() -> None:
    gateway = ModelGateway({"small": ModelSettings(base_url=BASE)})
    assert gateway.names() == ["demo", "small"]
    assert gateway.default == "demo"
    assert gateway.resolve(None) == gateway.resolve("") == gateway.resolve("demo")
    assert gateway.info() == ModelInfo(name="demo", provider="demo")


def test_a_demo_model_of_the_configuration_wins_over_the_built_in_one() -> None:
    gateway = ModelGateway({"demo": ModelSettings(base_url=BASE)})
    assert gateway.resolve("demo").provider == "openai"


def test_a_model_without_a_name_has_the_name_of_its_section() -> None:
    gateway = ModelGateway({"small": ModelSettings(base_url=BASE), "big": ModelSettings(name="gpt-big", base_url=BASE)})
    assert (gateway.resolve("small").name, gateway.resolve("big").name) == ("small", "gpt-big")


def test_abilities_are_what_the_settings_say() -> None:
    settings = ModelSettings(
        name="x", base_url=BASE, tools=False, vision=True, stop_words=False, streaming=False, context_window=8192,
        completion=True,
    )  # fmt: skip
    assert ModelGateway({"x": settings}).info("x") == ModelInfo(
        name="x", provider="openai", tools=False, vision=True, stop_words=False, streaming=False, context_window=8192,
        completion=True,
    )  # fmt: skip


def test_an_unknown_model_names_near_matches() -> None:
    gateway = ModelGateway({"gpt-small": ModelSettings(base_url=BASE), "gpt-large": ModelSettings(base_url=BASE)})
    with pytest.raises(
        ModelNotFoundError, match="there is no model named 'gpt-smal'; did you mean 'gpt-small'"
    ) as caught:
        gateway.resolve("gpt-smal")
    assert caught.value.code == ErrorCode.INVALID_PARAMS
    assert caught.value.details == {"model": "gpt-smal", "known": ["demo", "gpt-large", "gpt-small"]}
    with pytest.raises(ModelNotFoundError, match="there are: demo, gpt-large, gpt-small"):
        gateway.stream(ModelRequest(messages=(), model="zzz"))


def test_an_unknown_default_is_told_when_it_is_needed() -> None:
    gateway = ModelGateway({}, "nowhere")
    with pytest.raises(ModelNotFoundError, match="no model named 'nowhere'"):
        gateway.info()


def test_an_unknown_kind_of_provider_names_the_kinds_there_are() -> None:
    gateway = ModelGateway({"x": ModelSettings(provider="opnai")})
    with pytest.raises(ModelNotFoundError, match=r"model 'x' has the provider 'opnai', .* did you mean 'openai'"):
        gateway.info("x")


async def test_a_new_kind_of_provider_is_one_registration() -> None:
    gateway = ModelGateway(
        {"polly": ModelSettings(provider="parrot"), "lora": ModelSettings(provider="parrot")},
        "polly",
        {"parrot": Parrot},
    )
    assert Parrot.made == 0
    assert (await ask(gateway, "hello")).text == "polly: hello"
    assert (await ask(gateway, UserMessage(content="bye"), model="lora")).text == "lora: bye"
    gateway.warm("lora")
    await gateway.aclose()
    assert Parrot.made == 1


def test_an_address_is_checked_and_tidied() -> None:
    assert ModelSettings(base_url="http://h/v1/").base_url == "http://h/v1"
    assert ModelSettings(base_url="http://h/v1/chat/completions").base_url == "http://h/v1"
    assert ModelSettings(base_url="http://h/v1/?v=1").base_url == "http://h/v1?v=1"
    with pytest.raises(ValidationError, match="must start with http:// or https://, got 'localhost:8000'"):
        ModelSettings(base_url="localhost:8000")


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"max_retries": -1},
        {"context_window": -1},
        {"echo_reasoning": "maybe"},
        {"text_tool_calls": ["x"]},
        {"nme": "x"},
    ],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ModelSettings.model_validate(wrong)
