#!/bin/sh
# Make a cluster of these hosts, half of them replicas, unless they are one: sh form-cluster.sh HOST[:PORT] ...
# Nodes know each other by address, so names are looked up. It may be run again at any time.
set -eu
VALKEYCLI_AUTH=$(cat "${SECRETS:-/run/secrets}/operator.password")
REDISCLI_AUTH=$VALKEYCLI_AUTH
export VALKEYCLI_AUTH REDISCLI_AUTH
cli="${CLI:-valkey-cli} --user operator"
nodes=
for host in "$@"; do
  port=${host##*:}
  [ "$port" != "$host" ] || port=6379
  address=$(getent hosts "${host%:*}" | awk '{ print $1; exit }')
  until $cli -h "$address" -p "$port" ping | grep -q PONG; do sleep 1; done
  nodes="$nodes $address:$port"
done
if $cli -h "$address" -p "$port" cluster info | grep -q cluster_state:ok; then
  echo "they are a cluster"
  exit 0
fi
$cli --cluster create $nodes --cluster-replicas 1 --cluster-yes
