"""One library under several settings at once: what is shared, what is not, what may not differ."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ragcore.config import settings as config
from ragcore.config.settings import FIXED
from ragcore.engine import Engine
from ragcore.errors import ConfigError
from tests import pdfs, prepared
from tests.messages_server import MessagesServer, Reply

QUESTION = "What was the highest nitrate reading?"
KEY, OTHER_KEY = "sk-ant-of-the-machine", "sk-ant-of-a-visit"


def keys_in(request: dict[str, Any]) -> set[str]:
    return {key for key in (KEY, OTHER_KEY) for value in request["headers"].values() if key in value}


@pytest.fixture(scope="module", autouse=True)
def loaded_once() -> None:
    """Not here, where what loads a model, and how often, is tested."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(home=tmp_path_factory.mktemp("home"), overrides={"llm.model": "offline"}) as engine:
        for name, data in {"survey.pdf": pdfs.one_column(), "table.pdf": pdfs.ruled_table()}.items():
            prepared.read(engine, data, name)
        engine.index()
        engine.warm()
        yield engine


def test_it_shares_what_is_loaded_and_differs_in_what_was_asked(library: Engine) -> None:
    few = library.with_settings({"retrieve.top_k": 2})
    assert few.settings.retrieve.top_k == 2
    assert few.origins["retrieve.top_k"] == "argument"
    assert library.settings.retrieve.top_k != 2
    assert few.store is library.store
    assert few.search.indexer is library.search.indexer
    assert few.models.embedder is library.models.embedder
    assert few.models.reranker is library.models.reranker
    assert len(few.retrieve(QUESTION).hits) == 2
    assert len(library.retrieve(QUESTION).hits) > 2
    assert library.with_settings({"rerank.model": "none"}).models.reranker is None


def test_what_the_first_needs_later_is_loaded_once(library: Engine) -> None:
    cold = Engine.open(home=library.home, overrides={"llm.model": "offline"})
    beside = cold.with_settings({"retrieve.mode": "bm25"})
    assert beside.retrieve(QUESTION).hits
    assert cold.search.indexer is beside.search.indexer
    assert cold.models.embedder is beside.models.embedder
    cold.close()


def test_it_is_made_in_no_time(library: Engine) -> None:
    started = time.process_time()
    for alpha in range(20):
        library.with_settings({"retrieve.alpha": alpha / 20})
    assert (time.process_time() - started) / 20 < 0.05


def test_closing_it_closes_nothing(library: Engine) -> None:
    with library.with_settings({"retrieve.top_k": 3}) as beside:
        pass
    assert beside.retrieve(QUESTION).hits
    assert library.documents()


def test_settings_on_settings(library: Engine) -> None:
    both = library.with_settings({"retrieve.top_k": 3}).with_settings({"retrieve.alpha": 1.0}, origin="this visit")
    assert (both.settings.retrieve.top_k, both.settings.retrieve.alpha) == (3, 1.0)
    assert both.origins["retrieve.alpha"] == "this visit"
    assert both.search.indexer is library.search.indexer


@pytest.mark.parametrize(
    "overrides",
    [
        {"index.bm25_k1": 2.0},
        {"chunk.row_tokens": 400, "retrieve.top_k": 3},
        {"ocr.mode": "off"},
        {"context.document_summary": True},
        {"noise.min_pages": 4},
        {"figures.describe": "off"},
        {"ingest.max_pages": 9},
    ],
)
def test_what_the_library_was_read_and_indexed_by_cannot_differ(library: Engine, overrides: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        library.with_settings(overrides)
    assert next(iter(overrides)) in caught.value.message
    assert "retrieve.top_k" not in caught.value.message
    assert "config.toml" in caught.value.hint


def test_all_that_are_fixed_are_named(library: Engine) -> None:
    with pytest.raises(ConfigError, match=r"index\.embedder, chunk\.row_tokens"):
        library.with_settings({"index.embedder": "other", "retrieve.top_k": 2, "chunk.row_tokens": 400})


def test_a_fixed_setting_may_be_given_as_it_is(library: Engine) -> None:
    assert library.with_settings({"chunk.row_tokens": library.settings.chunk.row_tokens}).retrieve(QUESTION).hits


def test_every_section_is_either_fixed_or_free() -> None:
    assert set(FIXED) < set(config.Settings.model_fields)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"retrieve.topk": 3}, "retrieve.top_k"),
        ({"chunk.row_token": 1}, "chunk.row_tokens"),
        ({"retrieve.alpha": 1.5}, "retrieve.alpha = 1.5"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(library: Engine, overrides: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        library.with_settings(overrides)
    assert said in caught.value.message + caught.value.hint


def test_the_same_settings_have_the_same_hash(library: Engine) -> None:
    assert library.with_settings({}).settings.hash() == library.settings.hash()


def test_many_at_once_answer_each_by_its_own(library: Engine) -> None:
    def hits(top_k: int) -> int:
        return len(library.with_settings({"retrieve.top_k": top_k}).retrieve(QUESTION).hits)

    wanted = [1, 2, 3, 4] * 4
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(hits, wanted)) == wanted


def test_each_sends_its_own_key_and_none_to_another_server(library: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with MessagesServer() as server, MessagesServer() as other:
        base = Engine(
            library.home,
            *config.load(overrides={"llm.model": "claude", "llm.base_url": server.url, "llm.cache": False}),
            api_key=KEY,
        )
        visit = base.with_settings({"answer.source_tokens": 900}, api_key=OTHER_KEY)
        elsewhere = base.with_settings({"llm.base_url": other.url})
        with_key = base.with_settings({"llm.base_url": other.url}, api_key=OTHER_KEY)
        for engine, asked in ((base, server), (visit, server), (elsewhere, other), (with_key, other)):
            asked.reply(Reply(text="61.4 mg/l <<SOURCE 1.1>>."))
            assert engine.ask(QUESTION).run().status == "complete"
        assert [keys_in(request) for request in server.requests] == [{KEY}, {OTHER_KEY}]
        assert [keys_in(request) for request in other.requests] == [set(), {OTHER_KEY}]
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        assert base.with_settings({"llm.base_url": other.url, "llm.model": "auto"}).models.writer_name == "offline"
        base.close()
