#!/usr/bin/env bash
# tests/hosts/devices.sh BIN: `paretopipe devices` of the folder BIN between two hosts, with fake-stage as the stage program.
#
# Exit status: 0 all is as it should be; 1 something is not; 77 this machine cannot have two hosts, with the reason.
set -euo pipefail
if [[ -z "${HOSTS:-}" ]]; then exec "$(dirname "$0")/with_two_hosts.sh" "$0" "$@"; fi

bin=$1
export PARETOPIPE_STAGE="$bin/fake-stage"
cd "$HOME"
cache=$HOME/.cache/paretopipe
said=

fail() { printf 'FAILED: %s; it said:\n%s\n' "$1" "$said"; exit 1; }
# paretopipe devices …, which must end with this status.
devices() {
  local expected=$1 status=0
  shift
  said=$("$bin/paretopipe" devices "$@" --devices devices.json 2>&1) || status=$?
  [[ $status == "$expected" ]] || fail "devices $* ended with $status instead of $expected"
}
says() { [[ "$said" == *"$1"* ]] || fail "\"$1\" is missing"; }
write_devices() { printf '{"pi": {"ssh": "pi"%s}%s}\n' "$1" "${2:-}" >devices.json; }

write_devices ''
devices 0 list
says 'ssh pi'

devices 1 check
says 'pi: not usable: pi cannot be started'
says 'paretopipe devices deploy'

devices 0 deploy pi
says 'copied paretopipe-stage'
sha256=$(sha256sum <"$PARETOPIPE_STAGE")
cmp "$PARETOPIPE_STAGE" "$cache/programs/${sha256%% *}/paretopipe-stage" || fail "the copy is another one"
devices 0 deploy pi
says 'nothing was copied'

devices 0 check
printf '%s\n' "$said"
says "shares this machine's clock"
says 'ok'
devices 0 check --format json
says '"round_trip_ns"'

devices 0 clean
says 'pi: removed'
[[ ! -e "$cache" ]] || fail "something is left in the cache"

# A program that cannot be written leaves nothing behind.
mkdir -p "$HOME/.cache"
touch "$cache"
devices 3 deploy pi
says 'no right to write'
[[ -f "$cache" ]] || fail "what was in the way is gone"
rm "$cache"

# A host without space keeps no part of the program.
mkdir -p "$cache"
mount -t tmpfs -o size=1M tmpfs "$cache"
devices 3 deploy pi
says 'pi has no room'
says 'make room'
[[ -z "$(find "$cache" -type f)" ]] || fail "a part of the program is left"
umount "$cache"
rmdir "$cache"

# Nobody listens at an address of no host; the other way works.
write_devices ', "address": "10.99.0.77", "program": "'"$PARETOPIPE_STAGE"'"'
devices 1 check
says 'local cannot reach pi'
[[ "$said" != *'pi cannot reach local'* ]] || fail "the way that works is not said to work"

# A host that is not there.
write_devices ', "program": "'"$PARETOPIPE_STAGE"'"' ', "gone": {"ssh": "10.99.0.2"}'
devices 1 check pi gone
says 'gone: not usable'
