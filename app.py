"""Groundwork in the browser: `streamlit run app.py`.

The server and each session both read this file: the server takes ``app`` (Streamlit with the app's routes beside it);
a session runs it as a script, which draws the frame and runs the requested page.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.server import frame

if get_script_run_ctx(suppress_warning=True) is None:
    from starlette.middleware import Middleware
    from streamlit.runtime.pages_manager import PagesManager

    from ragcore import telemetry
    from ragcore.errors import GroundworkError
    from ui.api import routes as api
    from ui.gate.front import built
    from ui.server import routes, web

    PagesManager.uses_pages_directory = False  # the folder's name must not turn on Streamlit's old multipage mode
    prefix = frame.prefix()
    try:
        telemetry.begin("groundwork")
        front, doors = built(prefix)
    except GroundworkError as error:
        raise SystemExit(f"{error.message} {error.hint}") from error
    served = [
        *routes.routes(prefix),
        *web.routes([page.path for page in frame.PAGES], prefix),
        *doors,
        *api.routes(prefix),
    ]
    measured = [Middleware(web.Measured, routes=served)] if telemetry.wanted() else []
    app = st.App(
        __file__,
        routes=served,
        middleware=[*measured, Middleware(web.Headers, prefix=prefix), Middleware(web.OwnOrigin), *front],
        lifespan=frame.lifespan,
    )
else:
    frame.run()
