"""The app's services on an empty library, without a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragcore.config.settings import load
from ragcore.engine import Engine
from ui.chat.runs import Answers
from ui.gate import access
from ui.gate.access import Access
from ui.library.jobs import Ingestion
from ui.server import services as services_module
from ui.server.services import Services
from ui.server.tokens import Signer
from ui.viewer.render import Renderer


@pytest.fixture(autouse=True)
def nobody_signs_in() -> None:
    """As by default, whatever the home of this machine says; tests of signing in settle it otherwise."""
    if not access._settled:
        access._settled.append(Access(load(environ={})[0].auth, None))


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
