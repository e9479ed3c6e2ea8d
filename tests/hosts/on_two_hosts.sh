# shellcheck shell=bash
# For tests on two hosts (with_two_hosts.sh), to be sourced with BIN_DIR: its programs are on the path, fake-stage is the stage
# program, and the working folder is HOSTS.
export PATH="$1:$PATH" PARETOPIPE_STAGE="$1/fake-stage"
cd "$HOSTS" || exit
mkdir -p home/.config/paretopipe

fail() { printf '%s\n' "$*" >&2; exit 1; }
in_pi() { nsenter --target "$PI" --net "$@"; }

# devices [SSH [PROGRAM [MORE [OTHERS]]]]: writes the devices file, with pi, more keys of pi's, and other devices.
devices() {
  printf '{"pi": {"ssh": "%s", "program": "%s"%s}%s}\n' "${1:-pi}" "${2:-$PARETOPIPE_STAGE}" "${3:-}" "${4:-}" \
    >home/.config/paretopipe/devices.json
}

# Nothing of ours runs on either host.
all_is_quiet() { ! pgrep -f 'fake-stage|paretopipe-stage|ssh -F .*ssh_config' >left 2>/dev/null; }
# nothing_runs AFTER: that, but what has just been told to end may take a moment.
nothing_runs() {
  local i
  for ((i = 0; i < 200; ++i)); do
    if all_is_quiet; then return 0; fi
    sleep 0.05
  done
  fail "$1: still running: $(ps -o pid,stat,args -p "$(paste -sd, left)")"
}

wait_until() { # WHAT COMMAND ...: at most a minute
  local what=$1 i
  shift
  for ((i = 0; i < 1200; ++i)); do
    if "$@"; then return 0; fi
    sleep 0.05
  done
  fail "$what: \"$*\" is not so within a minute: $(pgrep -af 'paretopipe|fake-stage|ssh -F'; tc qdisc show; in_pi tc qdisc show)"
}
has_records() { [[ -e $1/records.jsonl && "$(wc -l <"$1/records.jsonl")" -ge $2 ]]; } # OUT COUNT
all_ok() { [[ "$(grep -c '"status":"ok"' "$1/records.jsonl")" == "$2" ]]; }           # OUT COUNT

# Pi's firewall lets in what any of these selectors of ip-rule(8) names (SSH is dport 2222), and drops all other TCP without a word.
close_pi() { # SELECTOR ...
  local selector
  for selector in "$@"; do
    # shellcheck disable=SC2086  # a list of words
    in_pi ip rule add pref 1 iif to-here ipproto tcp $selector lookup local
  done
  in_pi ip rule add pref 2 iif to-here ipproto tcp blackhole
  in_pi ip rule add pref 3 lookup local
  in_pi ip rule del pref 0
}
open_pi() {
  in_pi ip rule add pref 0 lookup local
  for pref in 1 2 3; do
    while in_pi ip rule del pref $pref 2>/dev/null; do :; done
  done
}
