# RELiC Workbench for a group: everything the app needs at run time is in the image, so the container needs no network.
# What people add is kept in the volumes /srv/relic/data and /srv/relic/indexes (docs/operating.md).
FROM python:3.11-slim-bookworm

# The build of PyTorch without CUDA: gigabytes less, and nothing here needs a graphics card.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    HF_HUB_OFFLINE=1 \
    HOME=/tmp \
    RELIC_DATA=/srv/relic/data \
    RELIC_INDEXES=/srv/relic/indexes \
    RELIC_FETCH_LARGER=no \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_HEADLESS=true

RUN useradd --system --no-create-home --uid 10001 relic \
    && mkdir -p /srv/relic/data /srv/relic/indexes \
    && chown -R relic:relic /srv/relic

WORKDIR /app
COPY requirements.txt requirements-signin.txt constraints.txt ./
RUN pip install --extra-index-url "$TORCH_INDEX" -r requirements-signin.txt

COPY --chown=root:root . .

USER relic
VOLUME ["/srv/relic/data", "/srv/relic/indexes"]
EXPOSE 8501

# Store, disk, models and indexes, and whether the app answers; the first look waits until the models are loaded.
HEALTHCHECK --interval=60s --timeout=30s --start-period=120s --retries=3 \
    CMD ["python", "-m", "relic_core", "health", "--app", "http://localhost:8501"]

CMD ["python", "-m", "streamlit", "run", "app.py", "--server.port=8501"]
