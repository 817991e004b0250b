"""The only package that knows Streamlit: page set-up, claim box, cards, strip, job progress."""
