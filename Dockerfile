# RELiC Workbench for a group: everything the app needs at run time is in the image, so the container needs no network.
# What people add is kept in the volumes /srv/relic/data and /srv/relic/indexes (docs/operating.md).
# A tag can be moved. To build on one image for good, name it by the digest that a registry you trust gives:
# docker build --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:...
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
FROM ${PYTHON_IMAGE}

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
# Nothing is installed but files whose hashes are in these two lists.
COPY pip.txt hashes.txt ./
RUN pip install --require-hashes --no-deps -r pip.txt \
    && pip install --require-hashes --no-deps --only-binary=:all: --extra-index-url "$TORCH_INDEX" -r hashes.txt

COPY --chown=root:root . .

USER relic
VOLUME ["/srv/relic/data", "/srv/relic/indexes"]
EXPOSE 8501

# Store, disk, models and indexes, and whether the app answers; the first look waits until the models are loaded.
HEALTHCHECK --interval=60s --timeout=30s --start-period=120s --retries=3 \
    CMD ["python", "-m", "relic_core", "health", "--app", "http://localhost:8501"]

CMD ["python", "-m", "streamlit", "run", "app.py", "--server.port=8501"]
