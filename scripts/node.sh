#!/bin/sh
# Installs the official Node client, pinned with its hash, into .node for the test that drives the service with it.
# Never fails: without Node, npm or a network that test is skipped, and says so.
set -u
cd "$(dirname "$0")/.."
for file in package.json package-lock.json; do
    cmp -s "tests/support/node/$file" ".node/$file" || stale=yes
done
[ -z "${stale:-}" ] && [ -d .node/node_modules/openai ] && exit 0
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    echo "No Node with npm here: the test of the Node client will be skipped. Debian: apt-get install nodejs npm" >&2
    exit 0
fi
mkdir -p .node && cp tests/support/node/package.json tests/support/node/package-lock.json .node/ &&
    (cd .node && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-timeout=60000 \
        >/dev/null 2>&1) || {
    rm -rf .node
    echo "The Node client could not be installed: its test will be skipped." >&2
}
exit 0
