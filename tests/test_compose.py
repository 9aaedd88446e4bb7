"""Tests that docker-compose.yml fits the code it starts: commands, settings, secrets, images, health checks.

No test needs a container engine, so none is ever skipped. Where Compose is installed, `scripts/compose-config`
validates the file as well; building the images needs an engine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_server.kernel.settings import Settings, load_settings
from paceline_server.testing import servers
from paceline_server.testing.server_process import server_process

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
BUILDERS = {
    service["image"]: name for name, service in SERVICES.items() if "build" in service
}
OURS = {
    name
    for name, service in SERVICES.items()
    if service["image"].startswith("paceline-")
}
ONE_SHOT = {
    name for name, service in SERVICES.items() if service.get("restart") == "no"
}
BIN = Path(sys.executable).parent


def dockerfile(name: str) -> str:
    """The Dockerfile of a service's image, with continued lines joined."""
    builder = SERVICES[BUILDERS[SERVICES[name]["image"]]]
    path: str = builder["build"]["dockerfile"]
    return (ROOT / path).read_text(encoding="utf-8").replace("\\\n", " ")


def commands(program: str) -> set[str]:
    """The commands a program of ours lists in its help."""
    shown = subprocess.run(
        [BIN / program, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    ).stdout
    return set(
        re.findall(
            r"^[│ ]+([a-z][a-z-]+)  +\S", shown.split("Commands", 1)[1], re.MULTILINE
        )
    )


def test_the_services_of_the_scaled_shape_are_there() -> None:
    assert set(SERVICES) >= {"postgres", "redis", "migrate", "api", "worker", "agent"}


def test_no_secret_has_a_default() -> None:
    used = re.findall(r"\$\{(\w+)([^}]*)\}", TEXT)
    secret = [
        (name, rest)
        for name, rest in used
        if "PASSWORD" in name or name == "PACELINE_PUBLIC_URL"
    ]
    assert {name for name, _ in secret} == {
        "PACELINE_DB_PASSWORD",
        "PACELINE_REDIS_PASSWORD",
        "PACELINE_PUBLIC_URL",
    }
    assert all(
        rest.startswith(":?") and "scripts/compose-secrets" in rest
        for _, rest in secret
    ), secret


def test_generated_secrets_fill_every_required_variable_and_differ_each_time() -> None:
    script = ROOT / "scripts" / "compose-secrets"
    first, second = (
        subprocess.run(
            [script, "--print"], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    environment = dict(
        line.split("=", 1) for line in first.splitlines() if not line.startswith("#")
    )
    required = {
        name
        for name, rest in re.findall(r"\$\{(\w+)([^}]*)\}", TEXT)
        if rest.startswith(":?")
    }
    assert required <= set(environment)
    assert re.fullmatch(r"[0-9a-f]{48}", environment["PACELINE_DB_PASSWORD"])
    assert first != second


def test_a_clone_that_the_agents_container_cannot_read_is_named_with_the_remedy(
    tmp_path: Path,
) -> None:
    """The remedy leaves `.env` and the server's data as they are."""
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    (clone / "var").mkdir(mode=0o700)
    shutil.copy(ROOT / "scripts" / "compose-secrets", clone / "scripts")

    def write_secrets() -> str:
        (clone / ".env").unlink(missing_ok=True)
        return subprocess.run(
            [clone / "scripts" / "compose-secrets"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr

    assert write_secrets() == ""
    closed = clone / "docker"
    closed.mkdir(mode=0o700)
    said = write_secrets()
    assert "./docker" in said
    remedy = said.splitlines()[-1]
    subprocess.run(["sh", "-c", remedy], cwd=clone, check=True)
    assert write_secrets() == ""
    assert closed.stat().st_mode & 0o777 == 0o755
    assert (clone / ".env").stat().st_mode & 0o777 == 0o600
    assert (clone / "var").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", sorted(OURS - ONE_SHOT - {"agent"}))
def test_server_commands_exist(name: str) -> None:
    assert SERVICES[name]["command"][0] in commands("paceline-server")


@pytest.mark.parametrize("name", sorted(ONE_SHOT))
def test_one_shot_commands_exist(name: str) -> None:
    service = SERVICES[name]
    words = " ".join(
        [*service.get("entrypoint", ["paceline-server"]), *service.get("command", [])]
    )
    called = re.findall(r"\b(paceline(?:-server)?) ([a-z][a-z-]+)", words)
    assert called
    assert all(command in commands(program) for program, command in called), called


def test_the_agents_options_exist() -> None:
    words = " ".join(SERVICES["agent"]["command"])
    shown = subprocess.run(
        [BIN / "paceline", "agent", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    options = set(re.findall(r"(?<=\s)--[a-z-]+", words))
    assert options
    assert all(option in shown.stdout for option in options)
    assert "PACELINE_ENROL" in shown.stdout


def test_each_image_of_ours_is_built_once_and_never_asked_of_a_registry() -> None:
    """Compose writes the name of the service into the image: built twice under one tag, it changes at each `up`."""
    builders = [service for service in SERVICES.values() if "build" in service]
    assert len(builders) == len(BUILDERS)
    assert set(BUILDERS) == {SERVICES[name]["image"] for name in OURS}
    for name in OURS - set(BUILDERS.values()):
        assert SERVICES[name]["pull_policy"] == "never", name


def test_nothing_that_waits_for_a_job_depends_on_what_an_upgrade_replaces() -> None:
    """Compose stops what depends on a service before it replaces the service, and the agent finishes its job first."""
    assert "depends_on" not in SERVICES["agent"]
    assert "depends_on" not in SERVICES["proxy"]
    assert "lb_try_duration 60s" in (ROOT / "docker/Caddyfile").read_text()


def test_only_the_proxy_may_name_a_clients_address() -> None:
    """Workloads run in the agent's container; nothing they can reach the server from is trusted."""
    trusted = SERVICES["api"]["environment"]["PACELINE_TRUSTED_PROXIES"]
    ((network, pools),) = [
        (name, network["ipam"]["config"])
        for name, network in COMPOSE["networks"].items()
        if "ipam" in network
    ]
    assert pools == [{"subnet": trusted}]
    default = re.fullmatch(r"\$\{PACELINE_PROXY_SUBNET:-(.+)\}", trusted)
    assert default is not None
    assert load_settings({"PACELINE_TRUSTED_PROXIES": default[1]}).proxies
    assert {
        name for name, service in SERVICES.items() if network in service["networks"]
    } == {"proxy", "api"}


def test_the_database_is_healthy_only_when_it_answers_over_tcp() -> None:
    """While the image initialises a volume, a temporary server answers on the socket, and then ends."""
    assert "--host=127.0.0.1" in SERVICES["postgres"]["healthcheck"]["test"]


def test_every_setting_given_to_the_server_is_one_it_knows() -> None:
    settings = set(SERVICES["api"]["environment"]) | set(
        re.findall(r"\b(PACELINE_\w+)=", dockerfile("api"))
    )
    known = {f"PACELINE_{name.upper()}" for name in Settings.model_fields} | {
        "PACELINE_MIGRATIONS_DIR"
    }
    assert settings <= known


def test_redis_keeps_hints_and_never_drops_them_silently() -> None:
    command = SERVICES["redis"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"
    assert "PACELINE_REDIS_PASSWORD" in options["--requirepass"]


@pytest.mark.parametrize("name", sorted(set(SERVICES) - ONE_SHOT - {"agent"}))
def test_every_lasting_service_has_a_health_check_and_comes_back(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["restart"] == "unless-stopped"


def test_start_order_waits_for_health_and_for_the_migration() -> None:
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            wanted = (
                "service_completed_successfully"
                if needed in ONE_SHOT
                else "service_healthy"
            )
            assert how["condition"] == wanted, (name, needed)
    assert {"migrate", "redis"} <= set(SERVICES["api"]["depends_on"]) & set(
        SERVICES["worker"]["depends_on"]
    )


def test_api_and_worker_scale_and_only_the_front_door_publishes_ports() -> None:
    assert all("replicas" in SERVICES[name]["deploy"] for name in ("api", "worker"))
    assert [name for name, service in SERVICES.items() if "ports" in service] == [
        "proxy"
    ]
    assert all(
        port.startswith("${PACELINE_BIND:-127.0.0.1}:")
        for port in SERVICES["proxy"]["ports"]
    )


def test_volumes_are_named_and_each_is_used() -> None:
    mounted = {
        volume.split(":", 1)[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", [])
        if not volume.startswith(".")
    }
    assert mounted == set(COMPOSE["volumes"])


@pytest.mark.parametrize("name", sorted(OURS))
def test_images_of_ours_do_not_run_as_root(name: str) -> None:
    users = re.findall(r"^USER (\S+)", dockerfile(name), re.MULTILINE)
    assert users[-1] == "paceline"
    assert "groupadd --gid 10001 paceline" in dockerfile(name)
    assert "useradd --uid 10001 --gid paceline" in dockerfile(name)
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    for mounted in SERVICES[name].get("tmpfs", []):
        if mounted.startswith("/var"):
            assert mounted.endswith(":uid=10001,gid=10001,mode=0700")


@pytest.mark.parametrize("name", ["api", "agent"])
def test_what_an_image_takes_from_a_clone_is_readable_in_it(name: str) -> None:
    """A clone made under umask 077 has files that only their owner may read, and the images keep the modes."""
    last = dockerfile(name).rsplit("\nFROM ", 1)[1]
    copied = re.findall(r"^COPY (.+)$", last, re.MULTILINE)
    from_clone = [
        line for line in copied if "--from=" not in line or "frontend" in line
    ]
    assert from_clone
    assert all(line.startswith("--chown=paceline:paceline ") for line in from_clone)


@pytest.mark.parametrize("name", ["api", "agent"])
def test_images_copy_only_what_is_tracked_and_not_ignored(name: str) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    ignored = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and line[0] != "#"
    ]
    for line in re.findall(r"^COPY (.+)$", dockerfile(name), re.MULTILINE):
        if "--from=" in line:
            continue
        for source in re.sub(r"--chown=\S+", "", line).split()[:-1]:
            below = [
                path
                for path in tracked
                if path == source or path.startswith(source.rstrip("/") + "/")
            ]
            assert below, f"{source} is not in the repository"
            assert not any(
                fnmatch(source.rstrip("/"), pattern) for pattern in ignored
            ), source


def test_every_image_of_others_has_a_stand_in_for_the_engines_test() -> None:
    used = {SERVICES[name]["image"] for name in set(SERVICES) - OURS}
    for image in BUILDERS.values():
        used |= set(re.findall(r"^FROM (\S+)", dockerfile(image), re.MULTILINE))
    script = (ROOT / "scripts/test-compose").read_text(encoding="utf-8")
    made = dict(re.findall(r"^  stand_in (\w+) (\S+)", script, re.MULTILINE))
    assert set(made.values()) == used
    assert {f"{name}.Dockerfile" for name in made} == {
        path.name for path in (ROOT / "docker/stand-ins").glob("*.Dockerfile")
    }


def pins(name: str) -> dict[str, str]:
    return dict(
        re.findall(
            r"^([\w.-]+)(?:\[\w+\])?==([\w.]+)", (ROOT / name).read_text(), re.MULTILINE
        )
    )


@pytest.mark.parametrize(
    "name", ["docker/build.lock", "docker/server.lock", "docker/agent.lock"]
)
def test_images_install_the_versions_that_are_tested(name: str) -> None:
    share, whole = pins(name), pins("requirements.lock")
    assert share
    assert {key: whole.get(key) for key in share} == share
    assert len(re.findall("--hash=", (ROOT / name).read_text())) >= len(share)


@contextmanager
def process(env: dict[str, str], *command: str) -> Iterator[subprocess.Popen[bytes]]:
    with ChildProcess[bytes](
        [BIN / command[0], *command[1:]], env=env, stdout=subprocess.DEVNULL
    ) as child:
        try:
            yield child
        finally:
            child.terminate()
            child.wait(WITHIN_S)


def passes(name: str, env: dict[str, str]) -> bool:
    """Runs a service's health check as the engine would."""
    how, *rest = SERVICES[name]["healthcheck"]["test"]
    command = ["sh", "-c", rest[0].replace("$$", "$")] if how == "CMD-SHELL" else rest
    done = subprocess.run(
        command, env=env, capture_output=True, timeout=WITHIN_S, check=False
    )
    return done.returncode == 0


def test_health_checks_pass_for_running_processes_and_fail_without_them(
    tmp_path: Path,
) -> None:
    """The commands and health checks of the file, on PostgreSQL and Redis of this machine."""
    with (
        servers.postgresql() as postgres,
        servers.redis() as redis,
        reserved_port() as port,
    ):
        postgres.create_database("paceline")
        url = f"postgresql://{postgres.user}@127.0.0.1:{postgres.port}/paceline"
        env = {
            **os.environ,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "PACELINE_DATABASE_URL": url,
            "PACELINE_REDIS_URL": redis.url,
            "PACELINE_PUBLIC_URL": "http://127.0.0.1:8321",
            "PACELINE_DATA_DIR": str(tmp_path),
            "PACELINE_PORT": str(port),
        }
        api = [
            part.replace("8321", env["PACELINE_PORT"])
            for part in SERVICES["api"]["healthcheck"]["test"]
        ]
        SERVICES["api"]["healthcheck"]["test"] = api
        assert not passes("api", env)
        with process(
            env, "paceline-server", *SERVICES["migrate"]["command"]
        ) as migrate:
            assert migrate.wait(WITHIN_S) == 0
        with psycopg.connect(url) as connection:
            assert connection.execute(
                "SELECT count(*) FROM alembic_version"
            ).fetchone() == (1,)
        with (
            process(env, "paceline-server", *SERVICES["api"]["command"]),
            process(env, "paceline-server", *SERVICES["worker"]["command"]),
        ):
            for name in ("api", "worker"):
                wait_until(f"{name} to be healthy", lambda: passes(name, env))  # noqa: B023
        assert not passes("worker", env)


def test_the_agent_image_copies_all_that_its_wheel_is_made_of(tmp_path: Path) -> None:
    """Builds the wheel as the image does: from the copied paths and nothing beside them."""
    stage = dockerfile("agent").split("FROM rust", 1)[0]
    for line in re.findall(r"^COPY (?!--from)(.+)$", stage, re.MULTILINE):
        *sources, destination = line.split()
        for source in sources:
            target = tmp_path / destination
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "tests", "benchmarks")
                shutil.copytree(
                    ROOT / source, target, dirs_exist_ok=True, ignore=ignored
                )
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, target)
    build = (
        "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path / "wheels")],
        cwd=tmp_path / "runners",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    assert "paceline/cli.py" in zipfile.ZipFile(wheel).namelist()


def test_git_in_the_agent_image_may_read_the_mounted_clone() -> None:
    """git names the directory it distrusts: for a plain clone that is its `.git`."""
    trusted = re.findall(r"safe\.directory (\S+)", dockerfile("agent"))
    assert trusted == ["/srv/repository", "/srv/repository/.git"]


AGENT_TOML = "[devices]\nenabled = false\n"


def test_the_agents_container_waits_for_what_it_needs_and_does_not_start_in_a_loop(
    tmp_path: Path,
) -> None:
    """Before the server and its code are there; when told to stop; and when the server no longer accepts it."""
    (tmp_path / "agent.toml").write_text(AGENT_TOML)
    data, code = tmp_path / "agent", tmp_path / "code"
    settings = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PACELINE_DATA_DIR": str(tmp_path / "server"),
        "PACELINE_HEARTBEAT_S": "0.2",
    }

    def run_command(*arguments: str) -> str:
        return subprocess.run(
            [BIN / "paceline-server", *arguments],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    run_command("migrate")
    with server_process(settings) as server:

        @contextmanager
        def container(name: str) -> Iterator[tuple[ChildProcess[bytes], Path]]:
            log = tmp_path / name
            command = [ROOT / "docker/start-agent", code, server.url, "--data", data]
            command += ["--config", tmp_path / "agent.toml"]
            with (
                log.open("wb") as file,
                ChildProcess[bytes](
                    list(map(str, command)),
                    env={**os.environ, **settings},
                    stderr=file,
                ) as child,
            ):
                try:
                    yield child, log
                finally:
                    child.end()

        with container("first") as (child, log):
            server.start()
            code.write_text(run_command("enrolment-code"))
            wait_until(
                "the agent to be ready", lambda: b"ready: target" in log.read_bytes()
            )
            child.terminate()
            assert child.wait(WITHIN_S) == 0
        with container("second") as (child, log):
            wait_until(
                "the agent to be ready", lambda: b"ready: target" in log.read_bytes()
            )
            run_command("agent", "revoke", run_command("agent", "list").split("\t")[0])
            wait_until(
                "the reason", lambda: b"is not started again" in log.read_bytes()
            )
            assert log.read_bytes().count(b"does not accept this agent") == 1
            assert child.poll() is None
            child.terminate()
            assert child.wait(WITHIN_S) == 0
