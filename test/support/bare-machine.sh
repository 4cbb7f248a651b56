#!/bin/sh
# Makes and runs the machine of bare-machine.ts. Called by root in namespaces of its own for mounts and processes, which end with the script.
set -eu

# make BASE SUITE MIRROR (empty: the default of debootstrap), then a version of Node and a version of npm for each user: makes the base, which every run shares.
make() {
  base=$1
  debootstrap --variant=minbase --include=ca-certificates,curl,git,libatomic1 "$2" "$base" ${3:+"$3"}
  shift 3
  # Node 26 itself needs libatomic, so its user has the library. The system does not.
  mkdir "$base/opt/libatomic" "$base/srv/user" "$base/srv/npm-cache"
  mv "$base"/usr/lib/*/libatomic.so.1* "$base/opt/libatomic"
  chroot "$base" ldconfig
  chroot "$base" useradd --uid 1000 --home-dir /srv/user maker
  touch "$base/etc/resolv.conf" "$base/etc/hosts"
  rm -rf "$base"/var/cache/apt/* "$base"/var/lib/apt/lists/*
  cd "$base/tmp"
  while [ $# -gt 0 ]; do
    place="$base/opt/node-$1"
    npm pack --silent "node-$NODE_PLATFORM@$1" "npm@$2"
    mkdir -p "$place/lib/node_modules/npm"
    tar -xzf "node-$NODE_PLATFORM-$1.tgz" -C "$place" --strip-components=1 --no-same-owner package/bin
    tar -xzf "npm-$2.tgz" -C "$place/lib/node_modules/npm" --strip-components=1 --no-same-owner
    chmod +x "$place/bin/node" "$place/lib/node_modules/npm/bin/npm-cli.js"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$place/bin/npm"
    shift 2
  done
  rm -- *.tgz
}

# run BASE CACHE USER COMMAND MODULES: runs a command in a fresh folder of the user, which gets the archive on standard input. Everything but
# npm's cache is written to memory. Names and certificates are those of the machine below. MODULES: installed packages, which the command
# sees but cannot change, or empty.
run() {
  base=$1 cache=$2 user=$3 command=$4 modules=$5
  mount --bind "$base" "$base"
  mount --bind "$cache" "$base/srv/npm-cache"
  for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
    if [ -e "$file" ] && [ -e "$base$file" ]; then mount --bind "$file" "$base$file"; fi
  done
  mount -o remount,bind,ro "$base"
  mount -t proc proc "$base/proc"
  mount --rbind /dev "$base/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$base/tmp"
  mount -t tmpfs -o mode=0755 tmpfs "$base/var/cache"
  mount -t tmpfs -o mode=0700,size=2g tmpfs "$base/srv/user"
  mkdir "$base/srv/user/dormouse"
  tar -xf - -C "$base/srv/user/dormouse" --no-same-owner
  chroot "$base" chown -R "$user:" /srv/user
  if [ -n "$modules" ]; then
    mkdir "$base/srv/user/dormouse/node_modules"
    mount --bind "$modules" "$base/srv/user/dormouse/node_modules"
    mount -o remount,bind,ro "$base/srv/user/dormouse/node_modules"
  fi
  # This script stays the first process of its namespace: the kernel forgets whose end is its end too when a process changes its user.
  chroot --userspec="$user" "$base" sh -c "cd /srv/user/dormouse; $command" </dev/null || exit $?
}

"$@"
