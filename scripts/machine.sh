# shellcheck shell=bash
# Sourced by the scripts that fetch and build: what of this machine is in the way, in one sentence
# each with what to type. They run in the project's folder.

# shellcheck source=scripts/failures.sh
source scripts/failures.sh

# check_tools: whether what every script needs runs at all, with the packages that it is of.
check_tools() {
  local tool tools package try
  while read -r package tools; do
    for tool in $tools; do
      try=--version
      if [[ $tool == awk ]]; then try='BEGIN { print "runs" }'; fi
      if [[ -n $("$tool" "$try" </dev/null 2>/dev/null || true) ]]; then continue; fi
      echo "$(command -v "$tool" || echo "$tool") does not run: type apt-get install --reinstall" \
        "$package, or take this one out of PATH, then type $typed again" >&2
      return 1
    done
  done <<'END'
coreutils basename cut head mkdir mv realpath rm sha256sum sort stat tail tee
diffutils cmp diff
findutils find xargs
grep grep
mawk awk
sed sed
util-linux flock
END
}

# check_writable: whether files can be made here.
check_writable() {
  local folder copy=/tmp/vernier
  if [[ -n ${HOME:-} && -w ${HOME:-} ]]; then copy=$HOME/vernier; fi
  for folder in . .deps build; do
    if [[ -e $folder && ! -w $folder ]]; then
      copy=$(printf %q "$copy")
      echo "$(realpath "$folder") cannot be written by $(id -un): type cp -r" \
        "$(printf %q "$PWD") $copy && cd $copy && scripts/${typed##*scripts/}" >&2
      return 1
    fi
  done
}

# The lines of a list file, without comments.
entries() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$1"; }

# room_for LIST FOLDER: how many MB FOLDER needs, at most, for what it lacks of LIST, with files
# that come and go. The list has the measured size of all.
room_for() { lacks "$(sed -n 's/^# Room: \([0-9]*\) MB.*/\1/p' "$1")" "$2"; }

# lacks MEGABYTES FOLDER: what the folder has less than that, 50 at least.
lacks() {
  local there=0
  if [[ -d $2 ]]; then there=$(du --summarize --block-size=1M "$2" 2>/dev/null | cut -f 1); fi
  echo $((${1:-0} > there + 50 ? $1 - there : 50))
}

# What the demo's build takes at most. Measured: 100 MB, and as much for files that come and go.
room_for_build() {
  if [[ -x build/release/bin/vernier ]]; then echo 50; else lacks 250 build/release; fi
}

room_for_runtimes() {
  local list=scripts/python-runtimes.txt
  if cmp --quiet <(entries $list | sort) <(sort .deps/runtimes/.installed 2>/dev/null); then
    echo 0
  else
    room_for $list .deps/runtimes
  fi
}

# check_room: for what is still to be fetched and built. The folders may be links.
check_room() {
  local fetched=. built=.
  if [[ -d .deps ]]; then fetched=.deps/; fi
  if [[ -d build ]]; then built=build/; fi
  if [[ $(stat --format=%d $fetched) == $(stat --format=%d $built) ]]; then
    has_room $(($(room_for_build) + $(room_for_runtimes))) $built
  else
    has_room "$(room_for_build)" $built && has_room "$(room_for_runtimes)" $fetched
  fi
}

# has_room MEGABYTES FOLDER
has_room() {
  if (($(free_megabytes "$2") >= $1)); then return; fi
  say_no_room "$@"
  return 1
}

# Once, by the script that was typed.
if ${outermost:-true}; then check_tools || exit 1; fi
