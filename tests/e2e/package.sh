#!/usr/bin/env bash
# usage: package.sh BUILD_DIR VERSION [ARCHITECTURE EMULATOR]
# The Debian package of a build has the programs and profiles, depends on the libraries that they load, and is installed, in a
# root folder of its own. What it installs sweeps a model; for another architecture than this machine's, it says its version under
# an emulator. Exit status 77, for CTest to skip it, without dpkg.
set -euo pipefail
build=$1 version=$2 architecture=${3:-$(dpkg --print-architecture)} emulator=${4:-}
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: $tool is not installed" >&2; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Only packs: what is there was built before.
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
package=$folder/paretopipe_${version}_$architecture.deb
test -f "$package" || { ls "$folder"; exit 1; }

field() { dpkg-deb --field "$package" "$1"; }
expect() { # TEXT PATTERN
  grep -qE -- "$2" <<<"$1" || { printf 'no %s in:\n%s\n' "$2" "$1" >&2; exit 1; }
}
expect "$(field Architecture)" "^$architecture\$"
expect "$(field Version)" "^$version\$"
expect "$(field Depends)" "libc6 .*libfmt[0-9]+"
expect "$(field Recommends)" "libopenblas0-openmp.*iproute2"
contents=$(dpkg-deb --contents "$package")
for file in bin/paretopipe share/paretopipe/configs/quickstart.json share/paretopipe/configs/slurm/sweep-array.sh; do
  expect "$contents" " \./usr/$file\$"
done
if [[ -x $build/bin/paretopipe-stage ]]; then
  expect "$contents" " \./usr/bin/paretopipe-stage\$"
  expect "$(field Depends)" "libtorch"
fi

# The packages that it depends on are this machine's, or, of another architecture, somewhere else.
mkdir -p "$folder"/root/var/lib/dpkg/{info,updates}
touch "$folder/root/var/lib/dpkg/status"
dpkg --root="$folder/root" --log="$folder/dpkg.log" --force-not-root,bad-path,depends,architecture --install "$package" >"$folder/log" 2>&1 ||
  { cat "$folder/log"; exit 1; }
expect "$(cat "$folder/root/var/lib/dpkg/status")" "^Status: install ok installed\$"
cd "$folder"
installed=$folder/root/usr/bin/paretopipe
expect "$(${emulator:+"$emulator"} "$installed" --version)" "^paretopipe $version "
if [[ -n $emulator || ! -x ${installed}-stage ]]; then exit 0; fi
unset PARETOPIPE_STAGE
"$installed" sweep --model synthetic:1ms/4kB,1ms --data random --batches 4 --warmup 1 --repeat 1 --repeat-slow 0 --out out >/dev/null
expect "$("$installed" frontier out)" "2 local"
