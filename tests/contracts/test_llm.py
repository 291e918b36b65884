"""What every `LLM` must do, run over the offline writer and over Claude through a local server, with
markers and with the service's own citations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from ragcore.answer.cite import Marker, MarkerParser
from ragcore.answer.requests import build_request
from ragcore.config.settings import LlmSettings, Settings
from ragcore.errors import KeyMissing
from ragcore.protocols import LLM, ModelRequest
from ragcore.providers.paid import Billing
from ragcore.providers.registry import Models, resolve
from ragcore.types import Purpose, Usage
from tests.answer.samples import DIVIDENDS, PROSE, SETTINGS, document, sources
from tests.messages_server import MessagesServer

Make = Callable[[], LLM]


class Unbooked:
    """A ledger of what nobody asks about."""

    def add(self, model: str, purpose: Purpose, usage: Usage, usd: float | None) -> None:
        pass


def make(settings: LlmSettings, environ: dict[str, str]) -> LLM:
    chosen = SETTINGS.model_copy(
        update={"llm": settings, "rerank": SETTINGS.rerank.model_copy(update={"model": "none"})}
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
            patch.delenv(name, raising=False)
        for name, value in environ.items():
            patch.setenv(name, value)
        return Models(chosen, Billing(Unbooked(), None, {})).writer


@pytest.fixture(params=["offline", "claude"])
def settings(request: pytest.FixtureRequest) -> Settings:
    return with_llm(request.param, retries=0)


@pytest.fixture
def make_writer(settings: Settings) -> Iterator[Make]:
    with MessagesServer() as server:
        environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        yield lambda: make(settings.llm, environ)


@pytest.fixture
def question(settings: Settings) -> ModelRequest:
    return build_request("How much did revenues rise?", sources(PROSE, DIVIDENDS), (), document, settings)


class TestWriter:
    def test_is_an_llm(self, make_writer: Make) -> None:
        model = make_writer()
        assert isinstance(model, LLM)
        assert model.name
        assert isinstance(model.capabilities.extractive, bool)

    def test_cites_the_given_sources_in_the_marker_language(self, make_writer: Make, question: ModelRequest) -> None:
        parser = MarkerParser()
        items = [item for piece in make_writer().stream(question) for item in parser.feed(piece)]
        markers = [item for item in [*items, *parser.finish()] if isinstance(item, Marker)]
        assert any(part.source == 1 for marker in markers for part in marker.parts)

    def test_says_which_model_wrote_and_what_it_used(self, make_writer: Make, question: ModelRequest) -> None:
        model = make_writer()
        stream = model.stream(question)
        assert "".join(stream)
        assert stream.model == model.name
        assert (stream.usage.output_tokens == 0) == model.capabilities.extractive

    def test_the_same_request_gives_the_same_text(self, make_writer: Make, question: ModelRequest) -> None:
        model = make_writer()
        assert "".join(model.stream(question)) == "".join(model.stream(question))

    def test_close_ends_the_iteration(self, make_writer: Make, question: ModelRequest) -> None:
        stream = make_writer().stream(question)
        stream.close()
        assert list(stream) == []
        stream.close()

    def test_close_from_another_thread_midway(self, make_writer: Make, question: ModelRequest) -> None:
        stream = make_writer().stream(question)
        for _ in stream:
            closer = threading.Thread(target=stream.close)
            closer.start()
            closer.join()
            break
        stream.close()


def with_llm(model: str, **changes: object) -> Settings:
    return SETTINGS.model_copy(update={"llm": llm(model, **changes)})


def llm(model: str, **changes: object) -> LlmSettings:
    return SETTINGS.llm.model_copy(update={"model": model, **changes})


@pytest.mark.parametrize(
    ("model", "environ", "expected"),
    [
        ("auto", {}, "offline"),
        ("auto", {"ANTHROPIC_API_KEY": ""}, "offline"),
        ("auto", {"ANTHROPIC_API_KEY": "k"}, SETTINGS.llm.claude_model),
        ("offline", {"ANTHROPIC_API_KEY": "k"}, "offline"),
        ("claude", {"ANTHROPIC_API_KEY": "k"}, SETTINGS.llm.claude_model),
        ("my-model", {"ANTHROPIC_API_KEY": "k"}, "my-model"),
    ],
)
def test_the_settings_name_the_writer(model: str, environ: dict[str, str], expected: str) -> None:
    assert resolve(llm(model), environ) == expected
    assert make(llm(model), environ).name == expected


@pytest.mark.parametrize("model", ["claude", "my-model"])
def test_a_named_model_without_a_key_is_an_error_and_never_another_model(model: str) -> None:
    with pytest.raises(KeyMissing) as caught:
        make(llm(model), {})
    assert "ANTHROPIC_API_KEY" in caught.value.message


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert make(llm("llama", base_url="http://127.0.0.1:9"), {}).name == "llama"
    assert make(llm("llama"), {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}).name == "llama"
