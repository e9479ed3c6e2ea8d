# For tests on two hosts (with_two_hosts.sh), to be sourced.

fail() { printf '%s\n' "$*" >&2; exit 1; }

# nothing_runs AFTER: nothing of ours runs on either host. What has just been told to end may take a moment.
nothing_runs() {
  local i
  for ((i = 0; i < 200; ++i)); do
    if ! pgrep -f 'fake-stage|ssh -F .*ssh_config' >left 2>/dev/null; then return 0; fi
    sleep 0.05
  done
  fail "$1: still running: $(ps -o pid,stat,args -p "$(paste -sd, left)")"
}
