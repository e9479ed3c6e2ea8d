#!/usr/bin/env bash
# usage: figures.sh SOURCE_DIR
# How scripts/figures finds figures in documents and replaces them, and whether it knows every marker of the documents that git tracks.
# Measures nothing. Exit status 77, for CTest to skip it, without Python.
set -euo pipefail
source_dir=$1
command -v python3 >/dev/null || { echo "SKIPPED: there is no python3 here" >&2; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

figures() { python3 "$source_dir/tests/bench/figures.py" "$@"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
refused() { # WORDS COMMAND...
  local words=$1
  shift
  if "$@" 2>errors; then fail "not refused: $*"; fi
  grep -qF "$words" errors || fail "\"$words\" is not in: $(cat errors)"
}

printf '%s\n' 'Before.' '<!-- figure one -->' 'old' '<!-- end of figure -->' 'Between.' '<!-- figure two -->' '<!-- end of figure -->' >a.md
printf '%s\n' '<!-- figure one -->' '<!-- end of figure -->' 'After.' >b.md
printf '%s\n' '```text' 'new \1 & $x' '```' >text

figures check "one two" a.md b.md
figures place one text a.md b.md
diff a.md - <<'DOCUMENT' || fail "a.md is not what it should be"
Before.
<!-- figure one -->

```text
new \1 & $x
```

<!-- end of figure -->
Between.
<!-- figure two -->
<!-- end of figure -->
DOCUMENT
grep -q 'new' b.md || fail "the second document has not got the figure"
cp a.md once.md
figures place one text a.md b.md
cmp a.md once.md || fail "a second time changed the document"

refused 'no document has the figure three' figures place three text a.md b.md
refused 'scripts/figures does not know the figure two' figures check "one" a.md b.md
printf '%s\n' '<!-- figure one -->' 'text' >open.md
refused 'open.md: the figure one has no end' figures place one text a.md open.md
cmp a.md once.md || fail "a document was changed although another one is broken"
printf '%s\n' '<!-- figure one -->' '<!-- figure two -->' '<!-- end of figure -->' >nested.md
refused 'nested.md:2: the figure two begins before the figure one has ended' figures check "one two" nested.md
printf '%s\n' 'text' '<!-- end of figure -->' >closed.md
refused 'closed.md:2: a figure ends that has not begun' figures check "one" closed.md

# Cases of one promise become a row.
printf '%s\n' '| error: 1 ms | +3 us | within 100 us | kept |' '| error: 2 ms | -900 us | within 100 us | MISSED |' '| other | 2 | | |' |
  figures promises >table
grep -qxF '| error, 2 cases | -900 us to +3 us | within 100 us | 1 of 2 kept |' table || fail "$(cat table)"
grep -qxF '| other | 2 | nothing |  |' table || fail "$(cat table)"

if git -C "$source_dir" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  "$source_dir/scripts/figures" --check
fi
refused 'usage:' "$source_dir/scripts/figures" no-such-figure
echo "figures are replaced, and every marker is known"

# Codecs: what is fastest, but not if it changes what the model says, and what is on each codec's own frontier.
printf '%s\n' 'model,split,block_count,codec,network_name,throughput_image_per_s,throughput_image_per_s_low,throughput_image_per_s_high,latency_p50_ns,top1_agreement,on_frontier' \
  'm,3,3,none,20,100,95,105,5000000,,true' 'm,1,3,none,20,90,85,95,9000000,,false' 'm,2,3,none,20,80,75,85,8000000,,false' \
  'm,1,3,sort8,20,150,140,160,7000000,1,true' 'm,2,3,sort4,20,200,190,210,6000000,0.1,true' 'm,1,3,sort4,20,,,,,,' >20.csv
figures codec-answer 20.csv >table
grep -qxF '| 20 Mbit/s | 100 | 90.0 at 1 | 150 at 1, `sort8` | cut after block 1: 1.50 times |' table || fail "$(cat table)"
figures codec-cuts 20.csv >table
grep -qxF '| none | 90.0 at 1 | 8.00 at 2 | not splitting | 100 % |' table || fail "$(cat table)"
grep -qxF '| sort4 | **200 at 2** | **6.00 at 2** | 2 | 10 % |' table || fail "$(cat table)"
grep -qxF '| not splitting | **100** | **5.00** |  |  |' table || fail "$(cat table)"
sed 's/150,140,160/150,100,160/' 20.csv >close.csv
figures codec-answer close.csv | grep -q 'too close to tell' || fail "intervals that overlap are an answer"
