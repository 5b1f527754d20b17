#!/usr/bin/env bash
# Tries the project on a bare machine: a fresh chroot with nothing but the distribution's minimal
# system, python3 and this working tree (tracked files, and untracked ones that are not ignored).
#
# Usage: scripts/bare-machine.sh [SUITE [COMMAND...]]
#
#   SUITE     bookworm (default), trixie, noble ...
#   COMMAND   what to run there, in the project's folder (default: the README's two commands)
#
# Where the command ran the set-up, it runs once more without any network, which must succeed within
# seconds. CARRY="PATH..." takes further files of this folder along, such as build/packages.
# Needs root and debootstrap. The mirror is this machine's own, or $MIRROR; the keyring is that of
# debootstrap, or $KEYRING (on Debian the package ubuntu-keyring has Ubuntu's). The chroot is made
# under ${TMPDIR:-/var/tmp} and removed at the end; KEEP=1 leaves it there and says where.
set -euo pipefail

# A mount and process name space of its own: whatever happens, no mount and no process is left.
if [[ -z ${VERNIER_BARE_INSIDE:-} ]]; then
  [[ $(id -u) == 0 ]] || { echo "bare-machine.sh: needs root" >&2; exit 2; }
  command -v debootstrap >/dev/null || { echo "bare-machine.sh: needs debootstrap" >&2; exit 2; }
  VERNIER_BARE_INSIDE=1 exec unshare --mount --pid --fork --kill-child "${BASH_SOURCE[0]}" "$@"
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly suite=${1:-bookworm}
if (($# > 1)); then readonly command=${*:2}; else
  readonly command='./scripts/demo.sh && ./scripts/test.sh'
fi
root=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-$suite.XXXXXX")
readonly root
chmod 755 "$root"

cleanup() {
  if [[ -n ${KEEP:-} ]]; then
    echo "bare-machine.sh: left in $root"
    return
  fi
  # Never into the host's own /proc, /sys or /dev.
  umount --recursive "$root"/{proc,sys,dev} 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT

make_base() {
  local mirror=${MIRROR:-} components=main script=()
  case $suite in
    focal | jammy | noble | plucky | questing | resolute)
      mirror=${mirror:-http://archive.ubuntu.com/ubuntu}
      components=main,universe
      # An older debootstrap does not know the names of newer releases.
      script=(/usr/share/debootstrap/scripts/gutsy)
      ;;
    *)
      mirror=${mirror:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Component: main' | grep -m 1 '/debian/$')}
      ;;
  esac
  echo "== base system $suite from $mirror"
  debootstrap --variant=minbase --include=python3 --components="$components" \
    ${KEYRING:+--keyring="$KEYRING"} "$suite" "$root" "$mirror" "${script[@]}" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; return 1; }
  rm -f "$root.log"
  echo "deb $mirror $suite ${components/,/ }" >"$root/etc/apt/sources.list"
}

# How this machine reaches the network: name server, apt proxy, pip's index, certificates.
copy_network_settings() {
  local file
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  for file in $(grep -l '^Acquire' /etc/apt/apt.conf.d/* 2>/dev/null) /etc/apt/apt.conf \
    /etc/pip.conf /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates/*.crt; do
    if [[ -f $file ]]; then install -D -m 644 "$file" "$root$file"; fi
  done
}

mount_kernel_folders() {
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
}

# Runs a command line in the project's folder of the chroot, in an environment that is empty but for
# the settings of the network.
inside() {
  local setting settings=()
  while IFS= read -r setting; do settings+=("$setting"); done < <(env | grep -E -i \
    '^(https?_proxy|no_proxy|SSL_CERT_FILE|PIP_(CERT|PROXY|TRUSTED_HOST|(EXTRA_)?INDEX_URL))=')
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${settings[@]}" \
    chroot "$root" bash -c "cd /root/vernier && $1"
}

make_base
copy_network_settings
mount_kernel_folders
mkdir "$root/root/vernier"
git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
  xargs -0 sh -c 'for f; do [ -e "$f" ] && printf "%s\0" "$f"; done' sh |
  tar --create --null --files-from=- | tar --extract --directory="$root/root/vernier"
if [[ -n ${CARRY:-} ]]; then
  # shellcheck disable=SC2086  # a list of paths
  tar --create $CARRY | tar --extract --directory="$root/root/vernier"
fi

echo "== bare $suite: $command"
start=$SECONDS
inside "$command"
echo "== bare $suite: done in $((SECONDS - start)) s"

if [[ ! -d $root/root/vernier/.deps ]]; then exit; fi
export -f inside
export root
start=$SECONDS
echo "== set-up once more, without a network"
again=./scripts/setup.sh
if [[ -d $root/root/vernier/.deps/tensorflow ]]; then
  again="./scripts/deps.sh --tests --with tensorflow,python"
elif [[ -d $root/root/vernier/.deps/peer ]]; then
  again+=" --tests"
fi
unshare --net bash -c "inside '$again'"
echo "== second set-up: $((SECONDS - start)) s"
