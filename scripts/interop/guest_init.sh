#!/bin/bash
# The first process of a guest. GUEST_DIR, from the kernel's command line, is the folder of its run on the host: in it are
# `settings` and `command`; what the command prints goes to `output` and `errors`, its exit status to `status`.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
halt() { busybox poweroff -f; }
fail() { echo "guest: $*" >&2; echo 125 >"$run/status"; halt; }

# The root is the host's, read-only.
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t tmpfs none /run
run=/run/guest
mkdir $run
mount -t hostfs -o "$GUEST_DIR" none $run
. $run/settings
exec </dev/null >>$run/output 2>>$run/errors

ulimit -l unlimited
sysctl -qw net.ipv6.conf.all.disable_ipv6=1
card=
for card in /sys/class/net/*; do
  card=${card##*/}
  [ "$card" != lo ] && break
done
[ "$card" != lo ] || fail "there is no network card"
ethtool -K "$card" tso off gso off gro off tx off rx off >/dev/null 2>&1
ip link set lo up
ip link set "$card" name eth0 address "$MAC" mtu "$MTU" && ip addr add "$IP/24" dev eth0 && ip link set eth0 up ||
  fail "its network card does not come up"
[ -z "$EGRESS_MS" ] || tc qdisc add dev eth0 root netem delay "${EGRESS_MS}ms" || fail "tc netem"
rdma link add siw0 type siw netdev eth0 || fail "there is no Soft-iWARP"
bash $run/command
echo $? >$run/status
halt
