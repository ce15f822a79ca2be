#!/bin/sh
# Starts a node of a Redis Cluster for the exchange (docs/run/cluster.md says why each setting). docker-compose.cluster.yml and
# kubernetes-cluster.yaml run it in the image `redis`; elsewhere it needs redis-server on the PATH.
# REDIS_PASSWORD is that of the users exchange and replica, REDIS_OPERATOR_PASSWORD that of operator: letters and digits.
set -eu
case "$REDIS_PASSWORD$REDIS_OPERATOR_PASSWORD" in
  *change-this*)
    echo 'REDIS_PASSWORD and REDIS_OPERATOR_PASSWORD must be passwords of your own, not those of an example' >&2
    exit 78
    ;;
esac
umask 077
run=${REDIS_RUN:-/run}
users=$run/users.acl settings=$run/redis.conf

sed -n "
  s/change-this-password/$REDIS_PASSWORD/
  s/change-the-password-of-replicas/$REDIS_PASSWORD/
  s/change-this-one-too/$REDIS_OPERATOR_PASSWORD/
  /^user /p
" "${REDIS_USERS:-/etc/redis/users.acl}" > "$users"

# In a file, because command lines can be read by others. noeviction: a full Redis refuses new orders; without maxmemory it
# would be ended by the system. A node that gets another address says so itself.
cat > "$settings" << END
port ${REDIS_PORT:-6379}
dir ${REDIS_DATA:-/data}
aclfile $users
masteruser replica
masterauth $REDIS_PASSWORD
appendonly yes
appendfsync always
aof-load-truncated no
save ""
maxmemory ${REDIS_MAXMEMORY:-1gb}
maxmemory-policy noeviction
cluster-enabled yes
cluster-require-full-coverage no
cluster-node-timeout 5000
${REDIS_ADDRESS:+cluster-announce-ip $REDIS_ADDRESS}
END

# The image's own program hands the data to the user redis, and becomes this user.
if command -v docker-entrypoint.sh > /dev/null && [ "$(id -u)" = 0 ]; then
  chown redis "$users" "$settings"
  exec docker-entrypoint.sh redis-server "$settings"
fi
exec redis-server "$settings"
