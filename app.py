"""Home, which is the page Find. When the server starts it takes `app` from here."""

from __future__ import annotations

if __name__ == "__main__":  # a visit
    from relic_ui import finding

    finding.page("app.py")
else:
    import sys

    import streamlit as st
    from starlette.middleware import Middleware

    from relic_core.errors import BadRequest
    from relic_ui import person, signing_in, strangers, uploads

    try:
        signs_in = bool(person.providers())
    except BadRequest as error:
        sys.exit(str(error))
    strangers.guard_connections()
    # Where people sign in, a foreign page has not their cookie.
    first = Middleware(signing_in.Cookies if signs_in else strangers.Hosts)
    middleware = [first, Middleware(strangers.Visits), Middleware(uploads.Limits)]
    app = st.App(__file__, middleware=middleware, lifespan=uploads.serving)
