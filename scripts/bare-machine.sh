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
# under ${TMPDIR:-/var/tmp} and removed at the end, also after a signal; KEEP=1 leaves it there and
# says where. Each command's wall time and processor time are printed. Headers of TensorRT in
# ../shared/third_party are taken along.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
if [[ ${1:-} == -* ]]; then usage_error "unknown argument '$1'"; fi

# The chroot is made and used in a mount and process name space of its own, and removed from
# outside, when no process and no mount of it is left.
if [[ -z ${VERNIER_BARE_ROOT:-} ]]; then
  [[ $(id -u) == 0 ]] || { echo "bare-machine.sh: needs root" >&2; exit 2; }
  command -v debootstrap >/dev/null || { echo "bare-machine.sh: needs debootstrap" >&2; exit 2; }
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/bare-${1:-bookworm}.XXXXXX")
  inside=

  remove_chroot() { rm -rf --one-file-system "$root" "$root.log"; }

  # end SIGNAL-NUMBER: the first process of the name space takes all others along.
  end() {
    trap '' TERM INT HUP
    if [[ -n $inside ]]; then
      # shellcheck disable=SC2046  # none or one
      kill -KILL $(cat "/proc/$inside/task/$inside/children" 2>/dev/null) 2>/dev/null || true
      kill -KILL "$inside" 2>/dev/null || true
      wait "$inside" 2>/dev/null || true
    fi
    remove_chroot
    echo "bare-machine.sh: ended by a signal; nothing is left of $root" >&2
    exit $((128 + $1))
  }
  trap 'end 15' TERM
  trap 'end 2' INT
  trap 'end 1' HUP

  VERNIER_BARE_ROOT=$root unshare --mount --pid --mount-proc --fork --kill-child \
    "${BASH_SOURCE[0]}" "$@" &
  inside=$!
  status=0
  wait "$inside" || status=$?
  if [[ -n ${KEEP:-} ]]; then
    echo "bare-machine.sh: left in $root"
  else
    remove_chroot
  fi
  exit "$status"
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/stages.sh
source scripts/stages.sh
readonly suite=${1:-bookworm}
if (($# > 1)); then commands=("${*:2}"); else commands=(./scripts/demo.sh ./scripts/test.sh); fi
readonly root=$VERNIER_BARE_ROOT
chmod 755 "$root"

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
scripts/source-files.sh | tar --create --files-from=- |
  tar --extract --no-same-owner --directory="$root/root/vernier"
if [[ -n ${CARRY:-} ]]; then
  # shellcheck disable=SC2086  # a list of paths
  tar --create $CARRY | tar --extract --directory="$root/root/vernier"
fi
for folder in ../shared/third_party/tensorrt-*/; do
  if [[ -d $folder ]]; then
    mkdir -p "$root/root/shared/third_party"
    cp -R "$folder" "$root/root/shared/third_party/"
  fi
done

for command in "${commands[@]}"; do stage "bare $suite: $command" inside "$command"; done

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
