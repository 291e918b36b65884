"""Groundwork in the browser: `streamlit run app.py`.

This file is read twice: by the server, which takes ``app`` (Streamlit with our own routes beside it), and as the script
of each session, which draws the frame and runs the page that was asked for.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.server import frame

if get_script_run_ctx(suppress_warning=True) is None:
    from starlette.middleware import Middleware
    from streamlit.runtime.pages_manager import PagesManager

    from ui.server import routes, web

    PagesManager.uses_pages_directory = False  # the folder's name must not turn on Streamlit's old multipage mode
    prefix = frame.prefix()
    app = st.App(
        __file__,
        routes=[*routes.routes(prefix), *web.routes([page.path for page in frame.PAGES], prefix)],
        middleware=[Middleware(web.Headers, prefix=prefix), Middleware(web.OwnOrigin)],
        lifespan=frame.lifespan,
    )
else:
    frame.run()
