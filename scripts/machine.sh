# shellcheck shell=bash
# Sourced by the scripts that fetch and build: what of this machine is in the way, in one sentence
# each with what to type. They run in the project's folder.

# What was typed: often another script, which has started this one (usage.sh).
typed=${VERNIER_TYPED:-$0}

# check_writable: whether files can be made here.
check_writable() {
  local folder copy=/tmp/vernier
  if [[ -w ${HOME:-/} ]]; then copy=$HOME/vernier; fi
  for folder in . .deps build; do
    if [[ -e $folder && ! -w $folder ]]; then
      echo "$(realpath "$folder") cannot be written by $(id -un): type cp -r $PWD $copy &&" \
        "cd $copy && scripts/$(basename "$typed")" >&2
      return 1
    fi
  done
}

# The lines of a list file, without comments.
entries() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$1"; }

# missing_megabytes: what is still to be fetched and to be built takes at most this. Measured:
# .deps/runtimes 300 MB, the build of the demo 100 MB, and as much for files that come and go.
missing_megabytes() {
  local needed=50 requirement
  for requirement in $(entries scripts/python-runtimes.txt); do
    if ! grep -qsxF "$requirement" .deps/runtimes/.installed; then needed=$((needed + 300)); fi
  done
  if [[ ! -x build/release/bin/vernier ]]; then needed=$((needed + 200)); fi
  echo "$needed"
}

free_megabytes() { df --output=avail --block-size=1M "${1:-.}" | tail -n 1 | xargs; }

# Room for what is still to be fetched and built.
check_room() {
  local free needed
  free=$(free_megabytes)
  needed=$(missing_megabytes)
  if ((free < needed)); then
    echo "$free MB are free in $PWD, and $needed are needed: make room, then type $typed again" >&2
    return 1
  fi
}

# disk_is_full FOLDER: whether not even a small file can be written there. A log on the full disk
# does not say so: it has no room for the words.
disk_is_full() {
  local probe=$1/.room.$$ status=0
  { head -c 262144 /dev/zero >"$probe"; } 2>/dev/null || status=1
  rm -f "$probe"
  [[ -w $1 && $status != 0 ]]
}

say_disk_is_full() {
  echo "the disk is full ($(free_megabytes "$1") MB are free in $(realpath "$1")): make room," \
    "then type the same command again" >&2
}
