# Two stages: the first builds the wheels and the environment, the second has what runs and nothing else.
# Base images are pinned by digest, of all their architectures (docker-library/repo-info lists them); packages by the
# hashes of requirements-*.lock and browser/package-lock.json, which `make lock` writes.
FROM rust:1.97.1-slim-bookworm@sha256:158b745f1b82dbeec7ea06e6b1617d6b005723bb66e6141cd2ddfee40d079ec3 AS rust

FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3 AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 \
    RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/opt/build/bin:/usr/local/cargo/bin:$PATH
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
COPY --from=rust /usr/local/rustup /usr/local/rustup
COPY --from=rust /usr/local/cargo /usr/local/cargo
WORKDIR /src
# The dependencies first: they change less often than the code, and are most of the work.
COPY requirements-build.lock requirements-runtime.lock ./
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --no-deps --require-hashes -r requirements-build.lock
RUN python -m venv /opt/qosforge \
 && /opt/qosforge/bin/pip install --no-deps --require-hashes -r requirements-runtime.lock
COPY . .
RUN /opt/build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /wheels ./browser ./drivers ./twin
RUN /opt/qosforge/bin/pip install --no-index --no-deps /wheels/*.whl
# The documentation, part of which the program itself writes, goes into the wheel of the program.
RUN NO_MKDOCS_2_WARNING=1 PYTHONPATH=app:/opt/qosforge/lib/python3.11/site-packages \
    /opt/build/bin/mkdocs build --strict -f site/mkdocs.yml
RUN /opt/build/bin/pip wheel --no-build-isolation --no-deps --wheel-dir /wheels/own .
RUN /opt/qosforge/bin/pip install --no-index --no-deps /wheels/own/*.whl

FROM python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3
# What a service's optional parts need (app/qosforge/system_packages.yaml); PostgreSQL's clients are as new as
# the server.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends fonts-dejavu-core git libharfbuzz-subset0 libpango-1.0-0 \
      libpangoft2-1.0-0 openssh-client postgresql-client-15 \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 qosforge \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/qosforge --no-create-home --shell /usr/sbin/nologin qosforge \
 && install --directory --owner 10001 --group 10001 --mode 0700 /var/lib/qosforge
COPY --from=builder /opt/qosforge /opt/qosforge
# Only the run directory and /tmp are written: the root file system may be read-only.
ENV PATH=/opt/qosforge/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    QOSFORGE_VAR_DIR=/var/lib/qosforge QOSFORGE_LOG_FORMAT=json MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /var/lib/qosforge
VOLUME /var/lib/qosforge
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/api/v1/health', timeout=4)"]
ENTRYPOINT ["qosforge"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
