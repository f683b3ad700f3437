"""What the image and its composition promise: no root, nothing writable but the data, a healthcheck, no secrets."""

import importlib
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import click
import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from selfright.cli.main import cli
from tests.support.web_servers import Answer, serving, site

yaml: Any = importlib.import_module("yaml")  # it comes without types
ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
PORT = 8000


def instructions() -> list[tuple[str, str]]:
    """(name, arguments) in their order; continued lines are one."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.strip() for line in re.sub(r"\\\n", " ", text).splitlines()]
    split = (line.partition(" ") for line in lines if line)
    return [(name.upper(), rest.strip()) for name, _, rest in split]


def last_stage() -> list[tuple[str, str]]:
    steps = instructions()
    return steps[max(at for at, (name, _) in enumerate(steps) if name == "FROM") :]


def one(name: str) -> str:
    (said,) = [rest for step, rest in last_stage() if step == name]
    return said


def compose() -> dict[str, Any]:
    (service,) = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))["services"].values()
    return dict(service)


def test_the_base_is_pinned_and_the_same_in_every_stage() -> None:
    bases = {rest.split()[0] for name, rest in instructions() if name == "FROM"}
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.\d+-slim-[a-z]+", bases.pop())  # a version of Python and a release of the system


def test_it_runs_as_nobody_in_particular_and_keeps_data_in_one_place() -> None:
    names = [name for name, _ in last_stage()]
    user = one("USER")
    assert all(part.isdigit() and int(part) > 0 for part in user.split(":"))
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "RUN" not in names[names.index("USER") :]  # nothing of the program belongs to that user
    settings = dict(part.split("=", 1) for part in shlex.split(one("ENV")))
    kept = one("VOLUME")
    assert {settings["SELFRIGHT_HOME"], settings["SELFRIGHT_INDEX"]} == {f"{kept}/home", f"{kept}/index"}
    assert settings["PYTHONDONTWRITEBYTECODE"] == "1"


def test_no_secret_is_in_the_image_and_only_what_is_there_is_copied() -> None:
    for name, rest in instructions():
        assert name not in ("ADD", "ARG"), rest
        assert name not in ("ENV", "LABEL") or not SECRET.search(rest), rest
    copied = [
        part for name, rest in instructions() if name == "COPY" and "--from" not in rest for part in rest.split()[:-1]
    ]
    assert copied
    assert not [part for part in copied if not (ROOT / part).exists()]
    assert set((ROOT / ".dockerignore").read_text(encoding="utf-8").split()) >= {"*", *(f"!{part}" for part in copied)}


def test_what_is_installed_are_extras_of_ours_at_one_locked_version_each() -> None:
    (install,) = [rest for name, rest in instructions() if name == "RUN" and "--constraint" in rest]
    extras = re.search(r"\"\.\[([a-z,]+)\]\"", install)
    assert extras
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras[1].split(",")) <= set(known)
    # The very command that makes the list of versions; pip refuses one that names two of the same package.
    command = install.partition(" > versions.txt")[0]
    listed = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    versions = [Requirement(line) for line in listed.splitlines()]
    python = re.search(r"python:(3\.\d+)", DOCKERFILE.read_text(encoding="utf-8"))
    assert python
    here: dict[str, Any] = {
        **default_environment(),
        "python_version": python[1],
        "python_full_version": f"{python[1]}.9",
    }
    meant = Counter(each.name for each in versions if each.marker is None or each.marker.evaluate(here))
    assert len(meant) > 100
    assert not [name for name, times in meant.items() if times > 1]


def test_the_healthcheck_tells_a_service_from_none() -> None:
    said = one("HEALTHCHECK")
    command = json.loads(said[said.index("[") :])
    assert command[0] == "python"
    assert str(PORT) == one("EXPOSE") == json.loads(one("CMD"))[-1]
    with serving(site({"/healthz": Answer()})) as server:
        run = [sys.executable, *(part.replace(str(PORT), str(server.port)) for part in command[1:])]
        assert run[1:] != command[1:]
        assert subprocess.run(run, check=False, capture_output=True).returncode == 0
    assert subprocess.run(run, check=False, capture_output=True).returncode != 0


def test_the_composition_lets_nothing_be_written_or_gained() -> None:
    service = compose()
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "user", "healthcheck"} & set(service)
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["volumes"] == [f"data:{one('VOLUME')}"]
    assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == DOCKERFILE
    assert {"mem_limit", "pids_limit", "stop_grace_period"} <= set(service)


@pytest.mark.parametrize("file", ["Dockerfile", "compose.yaml"])
def test_the_commands_that_its_comments_tell_are_understood(file: str) -> None:
    text = (DOCKERFILE.parent / file).read_text(encoding="utf-8")
    told = re.findall(r"^ *#.* selfright (keys add .*?)(?:  |$)", text, re.MULTILINE)
    assert told
    for words in told:
        command: click.Command = cli
        rest = words.split()
        while isinstance(command, click.Group):
            found = command.get_command(click.Context(command), rest.pop(0))
            assert found is not None, words
            command = found
        command.make_context("told", rest)  # raises for what is missing or unknown


@pytest.mark.parametrize("name", sorted(compose()["environment"]))
def test_settings_come_from_outside(name: str) -> None:
    assert re.fullmatch(r"\$\{" + name + r":-(?:offline)?\}", compose()["environment"][name])
