#!/bin/sh
# Installs Debian's Chromium and a font with Hangul for the tests of the page, where there is none and this user may.
# Never fails: without a browser those tests are skipped, and say so.
set -u
for program in chromium chromium-browser google-chrome; do
    command -v "$program" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "No Chromium here: the tests of the page will be skipped. Debian: apt-get install chromium fonts-noto-cjk" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
{ apt-get update && apt-get install --yes --no-install-recommends chromium fonts-noto-cjk; } >/dev/null 2>&1 ||
    echo "Chromium could not be installed: the tests of the page will be skipped." >&2
exit 0
