# Paceline's front door. `make help` lists every target; CONTRIBUTING.md says when to use which.
# The work is in scripts/; this file only names it. Variables: ARGS (passed on), SUITE and JSON (bench),
# DEVICES (run).

SUITE ?=
JSON ?=
ARGS ?=
DEVICES ?=
.DEFAULT_GOAL := help
.SUFFIXES:

##@ Use
.PHONY: run
run: ## Set up, serve, run the hashing suite once (DEVICES=3: simulated devices; REPOSITORY=PATH: your suites; ARGS="--port 8001")
	@scripts/port $(ARGS) && scripts/setup $(if $(DEVICES),devices,run) && \
	  exec scripts/inside paceline-server up $(if $(DEVICES),--devices $(DEVICES)) $(if $(REPOSITORY),--repository "$(REPOSITORY)") $(ARGS)

.PHONY: sign-in-link
sign-in-link: ## Print another one-time link to the dashboard that `make run` serves
	@scripts/setup bench >/dev/null && scripts/inside paceline-server sign-in-link $(ARGS)

.PHONY: bench bench-run
bench: bench-run ## Measure one suite here: make bench SUITE=hashing [JSON=out.json] [ARGS=…]
	@$(exit-with $(file <build/bench/.exit)) exit $(file <build/bench/.exit)
bench-run:
	@mkdir -p build/bench && rm -f build/bench/.exit
	@scripts/bench "$(SUITE)" "$(JSON)" -- $(ARGS); code=$$?; echo $$code > build/bench/.exit

.PHONY: setup
setup: ## Install what is missing, for use and for development; fast when nothing changed
	@scripts/setup test

##@ Check
.PHONY: test test-native test-python test-frontend test-e2e test-house
test: ## Set up and run the checks and tests of every language (this is what CI runs)
	@scripts/setup test && scripts/test all
test-native: ## For a change of native/: its tests, sanitizers, macOS, Windows and qemu
	@scripts/setup test && scripts/test native
test-python: ## ruff, mypy, import contracts, pytest of backend, runners and tests/ (ARGS go to pytest)
	@scripts/setup test && PYTEST_ARGS="$(ARGS)" scripts/test python
test-frontend: ## Lint, types, unit tests and build of the frontend
	@scripts/setup test && scripts/test frontend
test-e2e: ## The browser tests: headless Chromium against the embedded shape (ARGS go to Playwright)
	@scripts/setup test && PLAYWRIGHT_ARGS="$(ARGS)" scripts/test e2e
test-house: ## Generated files are current, the compose file is valid, shell scripts parse
	@scripts/setup test && scripts/test house
.PHONY: test-bare
test-bare: ## Try the first hour on a minimal Debian 12 (root, about an hour; ARGS: steps) before a release
	@scripts/test-bare $(ARGS)
.PHONY: test-compose
test-compose: ## Run docker-compose.yml on a Docker engine of its own and break it (root; not part of `test`; ARGS: steps)
	@scripts/setup test && scripts/test-compose $(ARGS)
.PHONY: test-long
test-long: ## What `make test` runs in a short length, in full: hours (CONTRIBUTING.md says what)
	@scripts/setup test && scripts/test long
.PHONY: test-adbd
test-adbd: ## The tests of devices on Google's own adbd, built here (minutes the first time; not part of `test`)
	@scripts/setup test && scripts/test-adbd $(ARGS)
.PHONY: test-forge
test-forge: ## A pull request's journey on a real Gitea, built here (needs Go, minutes the first time; not part of `test`)
	@scripts/setup test && scripts/test-forge $(ARGS)
.PHONY: test-harnesses
test-harnesses: ## Drive real benchmark tools, installed here (Go, Rust, Java, C++; minutes the first time; not part of `test`)
	@scripts/setup test && scripts/test-harnesses $(ARGS)
.PHONY: lint
lint: ## Every static check, no tests
	@scripts/setup test && scripts/test lint

##@ Change
.PHONY: format
format: ## Format every language in place
	@scripts/setup test && scripts/format
.PHONY: openapi
openapi: ## Regenerate backend/openapi.json, frontend/src/api/schema.gen.ts, the index of decisions and the suites' pictures
	@scripts/setup run && scripts/generate
.PHONY: lock
lock: ## Regenerate requirements.lock from the pyproject files (ARGS="--upgrade-package NAME")
	@scripts/setup bench && scripts/lock $(ARGS)
.PHONY: dist
dist: ## Build wheels and sdists, and the images where a container engine answers, into dist/
	@scripts/setup bench && scripts/inside scripts/dist $(ARGS)
.PHONY: clean
clean: ## Remove what set-up and builds made inside the clone (not the server's data in var/)
	@scripts/clean

.PHONY: help
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@printf '\nStart here: make run\n'

# GNU make answers 2 for any failed recipe; for `bench` a small extension hands on the real code
# (scripts/make_exit.c says why). Where it cannot be built (no gnumake.h) or loaded (make < 4.0),
# the code is 0 or 2 and make prints the real one as "Error N"; scripts/bench always gives it.
ifneq ($(filter bench,$(MAKECMDGOALS)),)
ifneq ($(filter load,$(.FEATURES)),)
MAKE_EXIT := $(shell mkdir -p build && $(CC) -shared -fPIC -o build/make_exit.so scripts/make_exit.c \
  2>build/make_exit.log && echo build/make_exit.so)
ifneq ($(MAKE_EXIT),)
load $(MAKE_EXIT)
build/make_exit.so: ;
endif
endif
endif
