# Tidemill: what a developer runs. `make` alone lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-stamp
SPELLED := README.md CONTRIBUTING.md CHANGELOG.md docs examples src web/src
ARGS ?=

# The first Python that is new enough; `make setup PYTHON=...` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

# Shell function: install Debian packages, if this is Debian and we may.
define apt_install
apt_install() { \
	command -v apt-get >/dev/null || return 1; \
	local sudo=; \
	if [ "$$(id -u)" != 0 ]; then command -v sudo >/dev/null || return 1; sudo=sudo; fi; \
	echo "installing $$* with apt-get"; \
	$$sudo apt-get update -qq && \
	$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$$@" >/dev/null; \
}
endef

.PHONY: help setup java postgres chromium demo test lint format fuzz fuzz-server attack test-long test-versions soak web docs bench bench-peers experiments clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' \
		| while IFS=$$'\t' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: $(STAMP) ## create .venv with the pinned packages and this package, editable

$(STAMP): pyproject.toml requirements.lock
	@$(apt_install); \
	python="$(PYTHON)"; python="$${python:-python3}"; \
	if ! command -v "$$python" >/dev/null; then \
		[ "$$python" != python3 ] || apt_install python3 python3-venv || true; \
	fi; \
	if ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "error: Tidemill needs Python 3.11 or newer; $$python is $$("$$python" --version 2>/dev/null || echo missing)" >&2; \
		echo "help: on Debian or Ubuntu, apt-get install python3.11 python3.11-venv (or any newer one);" >&2; \
		echo "      elsewhere, install it and say where it is: make setup PYTHON=path/to/python3" >&2; \
		exit 1; \
	fi; \
	if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
		version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		if ! apt_install "python$$version-venv" && ! apt_install python3-venv; then \
			echo "error: $$python cannot create virtual environments: its modules venv and pip are missing" >&2; \
			echo "help: as root, apt-get install python3-venv; or choose another: make setup PYTHON=path/to/python3" >&2; \
			exit 1; \
		fi; \
	fi; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then "$$python" -m venv --clear $(VENV); fi; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	touch $@

java: ## install a Java runtime, if there is none (for Spark)
	@$(apt_install); \
	if ! command -v java >/dev/null && ! apt_install openjdk-17-jre-headless \
		&& ! apt_install default-jre-headless; then \
		echo "error: Spark needs a Java runtime, version 17 or newer, and java is not on the PATH" >&2; \
		echo "help: as root, apt-get install openjdk-17-jre-headless; elsewhere, install a JRE and try again" >&2; \
		exit 1; \
	fi

# Debian would make a database and leave a server running; the tests start their own.
postgres: ## install a PostgreSQL server, if there is none (for its tests, which are skipped without)
	@$(apt_install); \
	if ! command -v initdb >/dev/null && ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		settings=/etc/postgresql-common/createcluster.d; \
		{ command -v apt-get >/dev/null && $$sudo mkdir -p $$settings \
			&& echo 'create_main_cluster = false' | $$sudo tee $$settings/tidemill.conf >/dev/null \
			&& apt_install postgresql; } \
		|| echo "there is no PostgreSQL server, and it cannot be installed: its tests will be skipped" >&2; \
	fi

chromium: ## install Chromium and `ip`, if there are none (for tests, which are skipped without)
	@$(apt_install); \
	missing=(); \
	command -v chromium chromium-browser google-chrome >/dev/null || missing+=(chromium fonts-dejavu-core); \
	PATH="$$PATH:/usr/sbin:/sbin" command -v ip >/dev/null || missing+=(iproute2); \
	[ $${#missing[@]} = 0 ] || apt_install "$${missing[@]}" \
		|| echo "there is no Chromium or no ip, and they cannot be installed: some tests will be skipped" >&2

demo: setup java ## eight queries over an auction house, on local Spark, with pictures
	@$(BIN)/tidemill demo

test: lint java postgres chromium ## all checks and tests; pass pytest options in ARGS
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow" $(ARGS)

lint: setup ## ruff, mypy and the spelling of docs and sources
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/codespell $(SPELLED)

format: setup ## put the sources into the common format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

fuzz: setup ## random queries against the reference, until Ctrl-C; pass options in ARGS
	@$(BIN)/python -m tests.fuzz $(ARGS)

fuzz-server: setup ## malformed requests and SQL texts for a server; pass options in ARGS
	@$(BIN)/python -m tests.server.fuzz $(ARGS)

attack: setup java ## kills, power cuts, damage, full disks, bad requests: an hour; ARGS="--share 0.1"
	@$(BIN)/python -m tests.attack $(ARGS)

test-long: setup java postgres ## what takes longer: kills, a cluster, every way to run a query on Spark
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m slow tests $(ARGS)

test-versions: setup java ## the wheel beside the oldest and newest versions it allows, on every Python here
	@$(BIN)/python -m tests.install.versions $(ARGS)

# Half an hour of bursts under a bound of memory: `make soak SECONDS=60` for a minute.
soak: SECONDS ?= 1800
soak: setup java ## bursts under a bound of memory; 200 clients of a server
	@$(BIN)/python -m tests.soak --seconds $(SECONDS)
	@$(BIN)/python -m tests.soak.server --seconds $$(( $(SECONDS) < 300 ? $(SECONDS) : 300 )) --clients 200

# Users need no Node: what this builds is in the package.
web: setup ## check, test and build the page into the package (needs Node 20 or newer)
	@command -v npm >/dev/null || { echo "error: the page is built with Node 20 or newer" >&2; exit 1; }
	@$(BIN)/python web/write_types.py
	@cd web && npm install --no-save --no-fund --no-audit --silent && npm run --silent build

docs: setup ## the docs as a site, in build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file site/mkdocs.yml
	@echo "build/site/index.html; with search: $(BIN)/python -m http.server --directory build/site"

bench: setup java ## run every benchmark
	@for file in benchmarks/[!_]*.py; do \
		echo "== $$file"; $(BIN)/python -m "benchmarks.$$(basename "$$file" .py)" $(ARGS); \
	done

experiments: setup ## the experiments of the texts again, as tables and pictures with words
	@$(BIN)/python -m experiments $(ARGS)

# Flink pins other versions of the same packages, so it has an environment of its own.
bench-peers: setup java ## install Flink into .venv-flink, to be measured by `benchmarks/nexmark.py`
	@[ -x .venv-flink/bin/python ] || $(BIN)/python -m venv .venv-flink
	@.venv-flink/bin/python -m pip install --quiet --disable-pip-version-check apache-flink==2.3.0

clean: ## remove .venv, caches and builds
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
