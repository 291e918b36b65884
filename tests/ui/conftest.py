"""The app's services on an empty library, without a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragcore.engine import Engine
from ui.chat.runs import Answers
from ui.library.jobs import Ingestion
from ui.server import services as services_module
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.viewer.render import Renderer


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """This process's services, without the models that `services` would load ahead."""
    home = tmp_path_factory.mktemp("home")
    engine = Engine.open(home=home, overrides={"llm.model": "offline"})
    renderer = Renderer(home / "pages")
    made = Services(engine, Ingestion(engine, removed=renderer.forget), Answers(engine), renderer, Signer())
    services_module._opened.append(made)
    yield made
    services_module.close()
