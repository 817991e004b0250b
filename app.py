"""Home: what this is, and a first claim to try. When the server starts it takes `app` from here."""

from __future__ import annotations

if __name__ == "__main__":  # a visit
    from relic_ui import home, shell

    workbench = shell.page("Home")
    with shell.show_errors():
        home.show(workbench)
else:
    import streamlit as st
    from starlette.middleware import Middleware

    from relic_ui import strangers, uploads

    strangers.guard_connections()
    app = st.App(
        __file__, middleware=[Middleware(strangers.Visits), Middleware(uploads.Limits)], lifespan=uploads.serving
    )
