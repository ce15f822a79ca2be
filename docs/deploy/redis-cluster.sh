#!/bin/sh
# Makes one Redis Cluster of the nodes in NODES (`host:port`, separated by spaces): the first half are masters, and each of
# the others follows one of them. REDISCLI_AUTH is the password of the user operator.
# It can be run again at any time. Where the cluster exists, it introduces the nodes to each other, which they need only
# when all of their addresses have changed at once. A creation that was interrupted begins again, unless a node has data.
set -eu
patience=${WAIT_SECONDS:-120}

at() {
  host=${1%:*} port=${1##*:}
  shift
  redis-cli -h "$host" -p "$port" --user operator --no-auth-warning "$@"
}
# The address of a node: nodes do not know names.
address() {
  getent ahostsv4 "${1%:*}" | { read -r ip _ && echo "$ip"; }
}
# Waits until a command succeeds, together with all other waits for `patience` seconds at most.
wait_for() {
  until "$@"; do
    patience=$((patience - 1))
    [ "$patience" -gt 0 ] || { echo "gave up: $*" >&2; exit 1; }
    sleep 1
  done
}
answers() { [ "$(at "$1" ping 2> /dev/null)" = PONG ]; }
says() { at "$1" cluster info | tr -d '\r' | grep -q "^$2$"; }
is_up() {
  says "$1" cluster_state:ok &&
    [ "$(at "$1" cluster info | tr -d '\r' | sed -n 's/^cluster_known_nodes://p')" -ge "$count" ]
}

follows() { at "$1" info replication | grep -q master_link_status:up; }

count=0 keys=0 whole='' addresses=''
for node in $NODES; do
  wait_for answers "$node"
  count=$((count + 1))
  keys=$((keys + $(at "$node" dbsize)))
  addresses="$addresses $(address "$node"):${node##*:}"
  if says "$node" cluster_slots_assigned:16384; then whole=$node; fi
done
masters=$((count / 2))

# Its masters came before its replicas.
if [ -n "$whole" ] && [ "$keys" = 0 ] && [ "$(at "$whole" cluster nodes | grep -c slave)" -lt "$masters" ]; then whole=''; fi

if [ -n "$whole" ]; then
  for one in $addresses; do at "$whole" cluster meet "${one%:*}" "${one##*:}" > /dev/null; done
  echo "the cluster exists"
elif [ "$keys" = 0 ]; then
  for node in $NODES; do at "$node" cluster reset hard > /dev/null; done
  redis-cli --user operator --no-auth-warning --cluster create $addresses --cluster-replicas 1 --cluster-yes
  for node in $(echo "$NODES" | cut -d ' ' -f "$((masters + 1))-"); do wait_for follows "$node"; done
  echo "the cluster was created"
else
  echo "the nodes are no whole cluster and have data: see redis-cli --cluster check" >&2
  exit 1
fi
for node in $NODES; do wait_for is_up "$node"; done
