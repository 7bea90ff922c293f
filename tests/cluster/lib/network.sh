# shellcheck shell=bash
# The network: one switch (a bridge) and a cable (a veth pair) to each host's eth0. All of it is in the
# network namespace of the room, so that this machine's interfaces, routes and firewall are not
# affected, and clusters side by side may use the same addresses.

make_switch() {
  mount -t tmpfs -o mode=755 tmpfs /run # keeps the names of the network namespaces in here
  add_bridge switch
  ! network_is second || add_bridge fast-switch
}

add_bridge() {
  ip link add "$1" type bridge
  ip link set "$1" up
}

# connect_host nX
connect_host() {
  local length=24
  ! network_is ipv6_only || length=64
  ip netns add "$1"
  plug_in "$1" eth0 switch "port-$1" "$(host_address "$1")/$length"
  ! network_is second || plug_in "$1" hsn0 fast-switch "fast-$1" "$(fast_address "$1")/24"
  ip -n "$1" link set lo up
}

# plug_in nX INTERFACE SWITCH PORT ADDRESS
plug_in() {
  ip link add "$4" type veth peer name "$2" netns "$1"
  ip link set "$4" master "$3" up
  # Without nodad an IPv6 address cannot be used for a second.
  ip -n "$1" addr add "$5" dev "$2" nodad
  ip -n "$1" link set "$2" up
}

# On a host: an interface that is up and has an address, but is not routable. Every host has the same.
add_decoy_docker0() {
  ip link add docker0 type bridge
  ip addr add 172.17.0.1/16 dev docker0
  ip link set docker0 up
}

# write_hosts nX N LOOPBACK_NAME: the /etc/hosts of host nX among n0 … nN.
write_hosts() {
  local i
  printf '127.0.0.1 localhost\n::1 localhost ip6-localhost\n'
  [[ $3 == no ]] || printf '127.0.1.1 %s\n' "$1"
  for ((i = 0; i <= $2; ++i)); do
    printf '%s n%d\n' "$(host_address "n$i")" "$i"
    ! network_is second || printf '%s n%d-hsn\n' "$(fast_address "n$i")" "$i"
  done
}
