#!/usr/bin/env bats
# Which interface `hpcboot show` chooses among real links, each case in its own network namespace.

bats_require_minimum_version 1.5.0

setup() {
  HPCBOOT=${HPCBOOT_BIN_DIR:-$BATS_TEST_DIRNAME/../../build/bin}/hpcboot
  [ -x "$HPCBOOT" ] || skip "$HPCBOOT is not built"
  command -v ip >/dev/null || skip "ip of iproute2 is not installed"
  unshare --net --mount true 2>/dev/null || skip "network namespaces need root"
  export HPCBOOT
}

# needs KIND [OPTION…]: skips if this kernel cannot create such a link, on top of v0 if it needs another link.
needs() {
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare --net bash -c 'ip link add v0 type veth peer name v1; ip link add link v0 name probe type "$@"' \
    bash "$@" 2>/dev/null || skip "this kernel has no links of the kind $1"
}

# in_network COMMANDS: runs them in an empty network with its own sysfs. Available functions:
#   wire NAME ADDRESS          one end of a veth pair that is up, as a container's eth0 is
#   bridge NAME ADDRESS [PORT] a bridge that is up, with a veth pair or PORT as its port
#   opened NAME tun|tap ADDRESS  a device that a program serves, as a VPN or a virtual machine does
#   default_over NAME [VIA]    the default route
#   chosen                     prints the interface that hpcboot chooses
in_network() {
  local functions
  functions=$(cat <<'FUNCTIONS'
set -eu
mount -t sysfs sysfs /sys
wire() {
  ip link add "$1" type veth peer name "f_$1"
  ip link set "f_$1" up
  ip link set "$1" up
  ip addr add "$2" dev "$1"
}
bridge() {
  ip link add "$1" type bridge
  local port=${3:-p_$1}
  [ $# -gt 2 ] || wire "$port" 192.0.2.200/32
  ip addr flush dev "$port"
  ip link set "$port" master "$1"
  ip addr add "$2" dev "$1"
  ip link set "$1" up
  until [ "$(cat "/sys/class/net/$1/carrier")" = 1 ]; do sleep 0.02; done
}
opened() {
  python3 - "$1" "$2" <<'PYTHON' &
import fcntl, os, struct, sys, time
device = os.open("/dev/net/tun", os.O_RDWR)
flags = {"tun": 1, "tap": 2}[sys.argv[2]] | 0x1000  # IFF_NO_PI
fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", sys.argv[1].encode(), flags))  # TUNSETIFF
time.sleep(60)
PYTHON
  holders="${holders-} $!"
  until [ -e "/sys/class/net/$1" ]; do kill -0 "$!"; sleep 0.02; done
  ip addr add "$3" dev "$1"
  ip link set "$1" up
}
default_over() { ip route add default ${2:+via "$2"} dev "$1"; }
chosen() { env -i ${1+"$@"} "$HPCBOOT" show --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["interface"])'; }
holders=
trap 'for holder in $holders; do kill "$holder"; done' EXIT
FUNCTIONS
  )
  unshare --net --mount bash -c "$functions"$'\n'"$1"
}

@test "eth0 is preferred to a bridge of containers or virtual machines, whatever its name" {
  for name in lxdbr0 incusbr0 mpqemubr0 waydroid0 docker0 lan; do
    run -0 in_network "bridge $name 10.99.0.1/24; wire eth0 10.0.0.1/24; default_over eth0; chosen"
    [ "$output" = eth0 ]
  done
}

@test "a bridge is not chosen even if it is alone" {
  run -0 in_network "bridge lxdbr0 10.99.0.1/24; chosen"
  [ "$output" = None ]
}

@test "on an isolated network eth0 is chosen without a route" {
  run -0 in_network "bridge lxdbr0 10.99.0.1/24; wire eth0 10.0.0.1/24; chosen"
  [ "$output" = eth0 ]
}

@test "eth0 is preferred to cilium_host, one end of a veth pair" {
  run -0 in_network "wire cilium_host 10.0.1.1/32; wire eth0 10.0.0.1/24; default_over eth0; chosen"
  [ "$output" = eth0 ]
}

@test "eth0 is preferred to tailscale0, a tun" {
  [ -e /dev/net/tun ] || skip "this machine has no /dev/net/tun"
  run -0 in_network "opened tailscale0 tun 100.64.0.1/32; wire eth0 10.0.0.1/24; default_over eth0; chosen"
  [ "$output" = eth0 ]
  run -0 in_network "opened tailscale0 tun 100.64.0.1/32; chosen"
  [ "$output" = None ]
}

@test "eth0 is preferred to a tap of a virtual machine; one that is the only way out is chosen" {
  [ -e /dev/net/tun ] || skip "this machine has no /dev/net/tun"
  run -0 in_network "opened qemu0 tap 10.99.0.1/24; wire eth0 10.0.0.1/24; default_over eth0; chosen"
  [ "$output" = eth0 ]
  run -0 in_network "opened net0 tap 10.0.0.1/24; bridge lxdbr0 10.99.0.1/24; default_over net0 10.0.0.254; chosen"
  [ "$output" = net0 ]
}

@test "a bridge that carries the default route is chosen" {
  run -0 in_network "bridge br0 10.0.0.1/24; bridge docker0 172.17.0.1/16; default_over br0 10.0.0.254; chosen"
  [ "$output" = br0 ]
}

@test "the host's own bridge is chosen for its port that leads out, without a route" {
  needs macvlan
  run -0 in_network "wire eth0 10.0.0.9/24; ip link add out0 link eth0 type macvlan; ip link set out0 up
    bridge br0 10.0.0.1/24 out0; ip addr flush dev eth0; bridge docker0 172.17.0.1/16; chosen"
  [ "$output" = br0 ]
}

@test "a container's macvlan is chosen" {
  needs macvlan
  run -0 in_network "wire under 192.0.2.1/32; ip link add eth0 link under type macvlan; ip addr flush dev under
    ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up; bridge docker0 172.17.0.1/16; chosen"
  [ "$output" = eth0 ]
}

@test "eth0 is preferred to wg0" {
  needs wireguard
  run -0 in_network "ip link add wg0 type wireguard; ip addr add 10.8.0.1/24 dev wg0; ip link set wg0 up
    wire eth0 10.0.0.1/24; default_over eth0; chosen"
  [ "$output" = eth0 ]
}

@test "eth0 is preferred to a dummy, even if it is called ib0" {
  needs dummy
  run -0 in_network "ip link add ib0 type dummy; ip addr add 10.8.0.1/24 dev ib0; ip link set ib0 up
    wire eth0 10.0.0.1/24; default_over eth0; chosen"
  [ "$output" = eth0 ]
}

@test "a bond is chosen" {
  needs bond
  run -0 in_network "ip link add bond0 type bond; wire port 192.0.2.1/32; ip link set port down
    ip link set port master bond0; ip link set bond0 up; ip addr add 10.0.0.1/24 dev bond0
    until [ \"\$(cat /sys/class/net/bond0/carrier)\" = 1 ]; do sleep 0.02; done
    bridge docker0 172.17.0.1/16; chosen"
  [ "$output" = bond0 ]
}

@test "a VLAN is chosen" {
  needs vlan id 5
  run -0 in_network "wire port 192.0.2.1/32; ip addr flush dev port; ip link add link port name port.5 type vlan id 5
    ip addr add 10.0.0.1/24 dev port.5; ip link set port.5 up; bridge docker0 172.17.0.1/16; chosen"
  [ "$output" = port.5 ]
}

@test "IPoIB is chosen" {
  compgen -G '/sys/class/infiniband/*' >/dev/null || skip "this machine has no InfiniBand adapter"
  ip -o addr show | grep -q ' ib[^ ]* *inet ' || skip "no InfiniBand link of this machine has an address"
  run -0 env -i "$HPCBOOT" show --json
  [[ $output == *'"interface": "ib'* || $output == *'"interface": "hsn'* ]]
}

@test "a link without a carrier is not chosen" {
  run -0 in_network "wire eth0 10.0.0.1/24; ip link set f_eth0 down; wire eth1 10.1.0.1/24; chosen"
  [ "$output" = eth1 ]
}

@test "the route to MASTER_ADDR takes precedence over the default route" {
  run -0 in_network "wire eth0 10.0.0.1/24; wire eth1 10.1.0.1/24; default_over eth0; chosen
    chosen MASTER_ADDR=10.1.0.1; ip route add 10.2.0.0/16 via 10.1.0.254; chosen HPCBOOT_MASTER_ADDR=10.2.0.7"
  [ "$output" = $'eth0\neth1\neth1' ]
}

@test "doctor names the links that lead to no other host" {
  run in_network 'bridge lan 10.99.0.1/24; wire eth0 10.0.0.1/24; default_over eth0; "$HPCBOOT" doctor'
  grep -Eq '^note +interface +eth0, 10.0.0.1; not routable to other hosts, .*: lan \(bridge\)' <<<"$output"
}

@test "a capture keeps what the kernel reported" {
  run -0 in_network "bridge lan 10.99.0.1/24; wire eth0 10.0.0.1/24; default_over eth0
    env -i \"\$HPCBOOT\" capture '$BATS_TEST_TMPDIR/capture' >&2"
  run -0 "$HPCBOOT" replay --json "$BATS_TEST_TMPDIR/capture"
  [[ $output == *'"interface": "eth0"'* ]]
  grep -q '"kind": "bridge"' "$BATS_TEST_TMPDIR"/capture/*.facts.json
}
