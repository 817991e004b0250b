"""Training: how do I teach a model on the quotations that critics chose, and does it find better?"""

from __future__ import annotations

import streamlit as st

from relic_ui import buttons, shell
from relic_ui.training import training, training_asking, training_one
from relic_ui.training.training_style import TRAINING

workbench = shell.page("Training")
st.html(TRAINING)
st.title("Training")
with shell.told():
    training.do(workbench, *buttons.pressed())
    training.introduce()
    training.show_default(workbench)
    every = workbench.trainings.all()
    chosen = training.choose(every)
    with st.container(key="training-list"):
        training.show_list(workbench, every, chosen)
    with st.container(key="training-shown"):
        if chosen:
            training_one.show_one(workbench, chosen)
    with st.container(key="training-side-by-side"):
        training.show_comparison(workbench, every)
    with st.container(key="training-asking"):
        training_asking.show(workbench, every)
