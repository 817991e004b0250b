"""Training: how do I teach a model on the quotations that critics chose, and does it find better?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.training import new_training, trainings

app = shell.page("Training")
st.html(trainings.STYLE)
st.title("Training")
with shell.show_errors():
    trainings.do(app, *buttons.pressed())
    trainings.show_default(app)
    every = app.trainings.all()
    chosen = trainings.choose(every)
    with st.container(key="training-list"):
        trainings.show_list(app, every, chosen)
    with st.container(key="training-shown"):
        if chosen:
            trainings.show_one(app, chosen)
    with st.container(key="training-side-by-side"):
        trainings.show_comparison(app, every)
    with st.container(key="training-asking"):
        new_training.show(app, every)
