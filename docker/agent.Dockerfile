# An agent that can build and run the suites of this repository: git, Rust and C, a JDK and Maven beside
# `paceline`.
# Build context: the root of the repository. It runs as uid 10001; its spool, credential, checkouts and
# artifact cache are in /var/lib/paceline-agent (a volume). For honest figures prefer an agent on the host
# itself: a container shares its machine with others. /srv/repository is a clone somebody else owns, mounted
# read-only; git refuses to read such a one unless told.

FROM python:3.11-slim-bookworm AS python
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY docker/build.lock docker/agent.lock docker/
# Plain files for the final stage, whose interpreter (the same 3.11) lies at another path.
RUN python -m venv /opt/build && /opt/build/bin/pip install --require-hashes -r docker/build.lock \
 && pip install --require-hashes --target /opt/paceline/lib -r docker/agent.lock
COPY VERSION ./
COPY contract/ contract/
COPY runners/ runners/
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /src/wheels ./contract ./runners \
 && pip install --no-deps --no-index --target /opt/paceline/lib /src/wheels/*.whl

FROM rust:1-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends git maven openjdk-17-jdk-headless python3 \
 && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory /srv/repository \
 && git config --system --add safe.directory /srv/repository/.git \
 && groupadd --gid 10001 paceline \
 && useradd --uid 10001 --gid paceline --home-dir /var/lib/paceline-agent --create-home paceline \
 && install --directory --owner=paceline --mode=700 /enrolment
COPY --from=python /opt/paceline /opt/paceline
# Not by PYTHONPATH: workloads inherit the environment, and our packages are not theirs.
RUN printf '#!/usr/bin/python3\nimport sys\nsys.path.insert(0, "/opt/paceline/lib")\n\
from paceline.cli import main\nmain()\n' >/usr/local/bin/paceline && chmod 755 /usr/local/bin/paceline
COPY --chown=paceline:paceline docker/start-agent /usr/local/bin/start-agent
ENV PYTHONUNBUFFERED=1 \
    CARGO_HOME=/var/lib/paceline-agent/cargo
USER paceline
WORKDIR /var/lib/paceline-agent
ENTRYPOINT ["paceline"]
CMD ["agent"]
