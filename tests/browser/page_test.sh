#!/usr/bin/env bash
# usage: page_test.sh NODE CHROMIUM BROWSER_PAGES
# Writes the pages and looks at them in a headless Chromium. Exit status: 0 passed; 1 failed; 77 skipped, and says why.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
"$3" "$folder" || status=$?
if [[ $status != 0 ]]; then exit "$status"; fi
CHROMIUM=$2 PAGES=$folder "$1" --test "$(dirname "$0")/page_test.mjs"
