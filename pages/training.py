"""Training: how do I teach a model on the quotations that critics chose, and does it find better?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.training import training, training_asking, training_one
from relic_ui.training.training_style import TRAINING

app = shell.page("Training")
st.html(TRAINING)
st.title("Training")
with shell.show_errors():
    training.do(app, *buttons.pressed())
    training.introduce()
    training.show_default(app)
    every = app.trainings.all()
    chosen = training.choose(every)
    with st.container(key="training-list"):
        training.show_list(app, every, chosen)
    with st.container(key="training-shown"):
        if chosen:
            training_one.show_one(app, chosen)
    with st.container(key="training-side-by-side"):
        training.show_comparison(app, every)
    with st.container(key="training-asking"):
        training_asking.show(app, every)
