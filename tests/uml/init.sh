#!/bin/bash
# The first process of the virtual machine that tests/uml/run.sh boots. Prepares it, runs the command, switches it off.
set -u
shared=$PARETOPIPE_SHARED

# Where run.sh had no privilege, a user namespace makes the files of root somebody else's, and mount, which is setuid,
# would run as that one. So no program changes its user in here; the command is root's anyway.
setpriv --no-new-privs mount -t proc proc /proc
setpriv --no-new-privs mount -o remount,bind,ro,nosuid /
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t devpts devpts /dev/pts
ln -sf /proc/self/fd /dev/fd

# A folder of the machine below, with writing. One in /tmp has just been covered.
share() {
  # The folder has a name among the options of newer kernels (6.10), and is all of them for older ones.
  mkdir -p "$1" && { mount -t hostfs -o "hostfs=$1" hostfs "$1" 2>/dev/null || mount -t hostfs -o "$1" hostfs "$1"; }
}

# 169 is reboot(2) on x86-64, with its two magic numbers and LINUX_REBOOT_CMD_POWER_OFF. There is no init to ask for it.
switch_off() {
  sync
  perl -e 'syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0)'
  exec sleep infinity  # the kernel has no place for a first process that ends
}

fail() {
  echo "$1" >>/dev/console
  switch_off
}

share "$shared" || fail "the shared folder cannot be mounted"
touch "$shared/booted"
mapfile -d '' -t settings <"$shared/settings"
project=${settings[0]} folder=${settings[1]} path=${settings[2]}
exec >>"$shared/stdout" 2>>"$shared/stderr" </dev/null

share "$project" || fail "the project cannot be mounted"
case "$folder/" in
  "$project"/*) ;;
  *) share "$folder" || fail "the current folder cannot be mounted" ;;
esac

# insmod is in a package (kmod) that containers often lack; perl is in every Debian. 313 is finit_module on x86-64.
load() {
  perl -e 'open my $file, "<", $ARGV[0] or die "$ARGV[0]: $!\n"; my $none = "";
           syscall(313, fileno($file), $none, 0) == 0 or die "load $ARGV[0]: $!\n"' "$1"
}
modules=/usr/lib/uml/modules/$(uname -r)/kernel
for module in drivers/net/{veth,ifb} net/sched/{sch_netem,sch_tbf,sch_htb,sch_prio,sch_ingress,sch_fq_codel,cls_u32,cls_flower,act_mirred}; do
  load "$modules/$module.ko"
done
ip link set lo up

cd "$folder" || fail "there is no $folder"
env -i PATH="$path:/usr/sbin:/sbin" HOME=/tmp TMPDIR=/tmp LANG=C.UTF-8 PARETOPIPE_UML=1 bash "$shared/command"
status=$?
# Under another name first: who waits for it must not find it empty.
echo "$status" >"$shared/status.new" && mv "$shared/status.new" "$shared/status"
switch_off
