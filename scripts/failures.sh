# shellcheck shell=bash
# Sourced by the scripts that fetch and build: runs commands, and says in one sentence why one
# failed where a full disk, a network or a proxy is in the way.

# What was typed, with its words: often of another script, which has started this one (usage.sh).
typed=${VERNIER_TYPED:-$0}

# The end of what the last logged command has said.
said=

# logged LOG COMMAND...: adds what the command says to LOG, and keeps its end in `said`: on a full
# disk a log has no room for the words. `watch` is a filter that looks on.
logged() {
  said=$("${@:2}" 2>&1 </dev/null | { tee -a "$1" 2>/dev/null || true; } | "${watch:-cat}" |
    tail -n 60)
}

# stat asks the file system itself: df needs /proc.
free_megabytes() {
  local blocks size
  read -r blocks size < <(stat --file-system --format='%a %S' "${1:-.}")
  echo $((blocks * size / 1048576))
}

# has_no_files_left FOLDER: whether its file system has used up its inodes. Some have no limit.
has_no_files_left() {
  local all left
  read -r all left < <(stat --file-system --format='%c %d' "$1")
  ((all > 0 && left < 10))
}

# disk_is_full FOLDER: whether not even a small file can be written there.
disk_is_full() {
  local probe=$1/.room.$$ status=0
  { head -c 262144 /dev/zero >"$probe"; } 2>/dev/null || status=1
  rm -f "$probe"
  [[ -d $1 && -w $1 && $status != 0 ]]
}

# is_out_of_room FOLDER: whether there was no room for the last command: mostly it has removed what
# it had written by now.
is_out_of_room() {
  grep -qE 'No space left on|Disk quota exceeded|enough free space|too little room' <<<"$said" ||
    disk_is_full "$1"
}

# say_no_room MEGABYTES FOLDER [OTHER]: that as many are needed, and how many are free in the
# folder, or in the other one if that is on another file system with less.
say_no_room() {
  local fullest=$2 least system
  least=$(free_megabytes "$2")
  if [[ -d ${3:-} && $(stat --format=%d "$2") != $(stat --format=%d "$3") &&
    $(free_megabytes "$3") -lt $least ]]; then
    fullest=$3
    least=$(free_megabytes "$3")
  fi
  system="the file system of $(stat --format=%m "$fullest")"
  if has_no_files_left "$fullest"; then
    echo "$system can hold no more files (no inodes are left): remove some," \
      "then type $typed again" >&2
  else
    echo "there is too little room: $least MB are free in $(realpath "$fullest"), on $system, and" \
      "$1 MB are needed: make room, then type $typed again" >&2
  fi
}

# Whether the last command could not reach what it downloads from.
is_unreachable() {
  local lost='connection broken|Temporary failure|Could not (resolve|connect)|Failed to connect'
  lost+='|timed out|Connection reset|IncompleteRead|cannot be reached'
  tail -n 20 <<<"$said" | grep -qE "$lost"
}

# proxy_in_the_way: the name of the variable whose proxy the last command has failed at, or "its
# settings"; fails where none is to blame. apt and git tell only the address.
proxy_in_the_way() {
  local name address words first='' forms
  words=$(tail -n 20 <<<"$said")
  for name in PIP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY http_proxy HTTP_PROXY; do
    address=${!name:-}
    if [[ -z $address ]]; then continue; fi
    first=${first:-$name}
    address=${address##*://}
    address=${address##*@}
    address=${address%%/*}
    forms=(-e "'${address%:*}'")
    if [[ $address == *:* ]]; then
      forms+=(-e "$address" -e "${address/:/ }" -e "${address/:/ port }")
    fi
    if grep -qwF "${forms[@]}" <<<"$words"; then
      echo "$name"
      return
    fi
  done
  if ! grep -qE '[Pp]roxy|tunnel failed|SOCKS support' <<<"$words"; then return 1; fi
  echo "${first:-its settings}"
}

# What the proxy has said, if anything.
proxy_answer() {
  local status='[45][0-9]{2} +[A-Z][A-Za-z ]+[a-z]|response [0-9]+'
  grep -oE "$status|Connection refused|Name or service not known|malformed|SOCKS support" \
    <<<"$said" | tail -n 1 | tr -s ' '
}

# reason: what went wrong with the last command: that there is no network, or the last line that it
# said.
reason() {
  local last proxy address
  if proxy=$(proxy_in_the_way); then
    address=
    if [[ $proxy != 'its settings' ]]; then address=" ${!proxy}"; fi
    # Without a password.
    echo "the proxy$(sed 's|//[^/]*@|//|' <<<"$address") of $proxy does not let it through:" \
      "$(proxy_answer || echo 'no answer')"
  elif is_unreachable; then
    echo "its server cannot be reached"
  else
    last=$(grep -v '^[[:space:]]*$' <<<"$said" | grep -v '^\[notice\]' | tail -n 1) || true
    echo "${last:-it says nothing}"
  fi
}

# what_to_type LOG: for the end of a sentence that says what failed.
what_to_type() {
  local proxy
  if proxy=$(proxy_in_the_way); then
    echo "; mend or unset $proxy, then type $typed again"
  elif is_unreachable; then
    echo "; when there is a network, type $typed again"
  else
    echo "; see $1, then type $typed again"
  fi
}

# What an interrupted command ends with looks like any other failure, and must not pass for a
# framework that is not available. The script that was called reports it.
interrupted() {
  if ${outermost:-true}; then
    echo "${task:-$(basename "$0")}: interrupted: type $typed again, and it goes on where it" \
      "was" >&2
  fi
  exit "$1"
}
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP
