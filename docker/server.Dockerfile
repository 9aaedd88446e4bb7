# The server: API, worker and migrations in one image, with the built frontend inside.
# Build context: the root of the repository. Nothing is downloaded at run time; it runs as uid 10001.

FROM node:22-bookworm-slim AS frontend
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

FROM python:3.11-slim-bookworm AS python
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# Hash-checked, and from two lists: what builds our package stays behind in this stage.
COPY docker/build.lock docker/server.lock docker/
RUN python -m venv /opt/build && /opt/build/bin/pip install --require-hashes -r docker/build.lock \
 && python -m venv --without-pip /opt/paceline \
 && pip --python /opt/paceline/bin/python install --require-hashes -r docker/server.lock
COPY VERSION ./
COPY contract/ contract/
COPY backend/ backend/
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /src/wheels ./contract ./backend \
 && pip --python /opt/paceline/bin/python install --no-deps --no-index /src/wheels/*.whl

FROM python:3.11-slim-bookworm
RUN groupadd --gid 10001 paceline \
 && useradd --uid 10001 --gid paceline --home-dir /var/lib/paceline --create-home paceline \
 && install --directory --owner=paceline --mode=700 /enrolment
COPY --from=python /opt/paceline /opt/paceline
# Owned by it, because a clone made under umask 077 has files that only their owner can read.
COPY --chown=paceline:paceline --from=frontend /src/frontend/dist /srv/paceline/frontend
COPY --chown=paceline:paceline alembic/ /srv/paceline/alembic/
ENV PATH=/opt/paceline/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PACELINE_HOST=0.0.0.0 \
    PACELINE_PORT=8321 \
    PACELINE_DATA_DIR=/var/lib/paceline \
    PACELINE_FRONTEND_DIR=/srv/paceline/frontend \
    PACELINE_MIGRATIONS_DIR=/srv/paceline/alembic
USER paceline
WORKDIR /var/lib/paceline
EXPOSE 8321
ENTRYPOINT ["paceline-server"]
CMD ["api"]
