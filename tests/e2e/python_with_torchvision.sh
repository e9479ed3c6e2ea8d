# To be sourced: sets `python` to a Python that has torchvision (Debian's python3-torchvision), which need not be the first
# on the PATH. Where there is none, ends the script as skipped, loudly: `$1` is what was not done.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import torchvision' 2>/dev/null; then break; fi
  python=
done
if [[ -z "$python" ]]; then
  echo "SKIPPED: no python3 here has torchvision (apt install python3-torchvision): $1" >&2
  exit 77
fi
