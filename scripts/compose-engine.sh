#!/bin/bash
# A Docker engine for `npm run test:compose` on a Debian machine that has none, without touching the machine: Docker of
# Debian runs in a folder, with a network and mounts of its own, and stand-ins of Debian's packages take the place of the
# official images (node:24-bookworm-slim, redis:7, postgres:17, nginx:1.28-alpine), with what those promise and this project uses.
# Arguments: the folder it works in, the folder of the project. Prints `ready <process>` and runs until it is killed.
# Needs root, mmdebstrap and slirp4netns. Packages come from the first mirror of the machine's own apt, or from APT_MIRROR.
# Check-Valid-Until is off: a mirror may be old.
set -eu
export WORK=$1 PROJECT=$2
mkdir -p "$WORK"
cd "$WORK"
MIRROR=${APT_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)}

# root <suite> <folder> <packages>: a small Debian with these packages; a folder that is complete is used again.
root() {
  [[ -e $2/.complete ]] && return
  rm -rf "$2"
  nice mmdebstrap -q --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' --include="$3" "$1" "$2" "deb $MIRROR $1 main" >&2
}

root trixie engine docker.io,docker-cli,docker-compose,iptables,iproute2,curl,ca-certificates
touch engine/.complete

root bookworm node ca-certificates
if [[ ! -e node/.complete ]]; then
  mkdir -p node/usr/local/{bin,etc,lib/node_modules}
  cp "$(readlink -f "$(command -v node)")" node/usr/local/bin/node
  cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" node/usr/local/lib/node_modules/npm
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js node/usr/local/bin/npm
  # A registry behind a CA of the machine's own is reached from inside, too.
  cp -L /etc/ssl/certs/ca-certificates.crt node/etc/ssl/certs/
  echo cafile=/etc/ssl/certs/ca-certificates.crt >node/usr/local/etc/npmrc
  chroot node useradd -u 1000 -m node
  touch node/.complete
fi

root bookworm redis redis-server
if [[ ! -e redis/.complete ]]; then
  mkdir -p redis/data
  printf '#!/bin/sh\n[ "$1" = redis-server ] || exec "$@"\nchown redis . && exec setpriv --reuid redis --regid redis --clear-groups "$@" --protected-mode no\n' >redis/usr/local/bin/docker-entrypoint.sh
  chmod +x redis/usr/local/bin/docker-entrypoint.sh
  touch redis/.complete
fi

root trixie postgres postgresql-17
if [[ ! -e postgres/.complete ]]; then
  cat >postgres/usr/local/bin/docker-entrypoint.sh <<'ENTRY'
#!/bin/sh
[ "$1" = postgres ] || exec "$@"
as() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  [ -n "$POSTGRES_PASSWORD" ] || exit 1
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  chown postgres /tmp/password
  as initdb -D "$PGDATA" -U "$POSTGRES_USER" -A scram-sha-256 --pwfile /tmp/password -E UTF8 --locale C || exit 1
  rm /tmp/password
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | as postgres --single -D "$PGDATA" postgres || exit 1
fi
shift
exec setpriv --reuid postgres --regid postgres --init-groups postgres -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
ENTRY
  chmod +x postgres/usr/local/bin/docker-entrypoint.sh
  touch postgres/.complete
fi

# 1.27.3 or later: bookworm and trixie have older ones.
root forky nginx nginx,busybox
if [[ ! -e nginx/.complete ]]; then
  printf '#!/bin/sh\nexec "$@"\n' >nginx/entry
  chmod +x nginx/entry
  chroot nginx sh -c 'useradd -r nginx; ln -sf busybox /bin/wget; ln -sf /dev/stdout /var/log/nginx/access.log; ln -sf /dev/stderr /var/log/nginx/error.log'
  printf 'user nginx; worker_processes auto; error_log /var/log/nginx/error.log notice; pid /run/nginx.pid; events { worker_connections 1024; }\nhttp { include mime.types; access_log /var/log/nginx/access.log; include conf.d/*.conf; }\n' >nginx/etc/nginx/nginx.conf
  touch nginx/.complete
fi

# The engine's root is this process' root, not only its view: what it starts would land outside of a chroot.
inner() {
  set -e
  mount --make-rprivate /
  mount --bind engine engine
  cd engine
  mkdir -p project old
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount --rbind /sys/fs/cgroup sys/fs/cgroup
  umount sys/fs/cgroup/unified 2>/dev/null || :
  mount --rbind /dev dev
  mount -t tmpfs tmpfs run
  mount -t tmpfs tmpfs tmp
  mount --bind "$PROJECT" project
  cp -L /etc/resolv.conf etc/
  ip link set lo up
  pivot_root . old
  cd /
  umount -l old
  exec nice dockerd
}
export -f inner
unshare -mn bash -c inner >dockerd.log 2>&1 &
ENGINE=$!
SLIRP=
trap 'kill $SLIRP $ENGINE 2>/dev/null; wait' EXIT
trap 'exit 0' TERM INT HUP
sleep 1
slirp4netns --configure --mtu=1500 --disable-host-loopback "$ENGINE" tap0 >slirp.log 2>&1 &
SLIRP=$!

in_engine() { nsenter -t "$ENGINE" -m -n "$@"; }
for _ in $(seq 60); do
  in_engine docker info >/dev/null 2>&1 && break
  kill -0 "$ENGINE" || { tail -5 dockerd.log >&2; exit 1; }
  sleep 1
done

# image <folder> <name> <changes>: the official image of this name, as far as the engine can tell.
image() {
  in_engine docker image inspect "$2" >/dev/null 2>&1 && return
  local folder=$1 name=$2 changes=() one
  shift 2
  for one in "$@"; do changes+=(-c "$one"); done
  tar -C "$folder" -c . | in_engine docker import "${changes[@]}" - "$name" >/dev/null
}
image node node:24-bookworm-slim 'ENTRYPOINT ["/usr/bin/env"]'
image redis redis:7 'ENTRYPOINT ["docker-entrypoint.sh"]' 'VOLUME /data' 'WORKDIR /data' 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
image postgres postgres:17 'ENTRYPOINT ["docker-entrypoint.sh"]' 'VOLUME /var/lib/postgresql/data' 'ENV PGDATA=/var/lib/postgresql/data' 'STOPSIGNAL SIGINT' 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/17/bin'
image nginx nginx:1.28-alpine 'ENTRYPOINT ["/entry"]' 'CMD ["nginx","-g","daemon off;"]' 'STOPSIGNAL SIGQUIT'

echo "ready $ENGINE"
wait "$ENGINE"
