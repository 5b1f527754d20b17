# shellcheck shell=bash
# Sourced by scripts that fetch something into a folder of .deps/: whether all of it is still there,
# and whether it can be had.

# seal FOLDER: writes down the SHA-256 of its files, once all of them are there.
seal() {
  (cd "$1" && find . -type f ! -name '.sums*' ! -name .complete -print0 | sort -z |
    xargs -0 sha256sum >.sums.new && mv .sums.new .sums)
}

# is_whole FOLDER [CHECK...]: whether its files are what they were when it was sealed. What an
# earlier version has fetched has no seal: it gets one where the command CHECK succeeds.
is_whole() {
  if [[ -d $1 && ! -e $1/.sums ]]; then
    (($# > 1)) && "${@:2}" && { seal "$1" || true; } 2>/dev/null
    return
  fi
  (cd "$1" && sha256sum --check --strict --status .sums) 2>/dev/null
}

# damaged_files FOLDER: a clause with those files of a sealed folder that are not whole.
damaged_files() {
  local files
  files=$(cd "$1" && LC_ALL=C sha256sum --check --quiet .sums 2>/dev/null |
    sed -n 's|^\./\(.*\): FAILED.*|\1|p' | paste -s -d ' ') || true
  echo "${files:-.sums} missing or changed"
}

# Whether a command that failed could not reach what it downloads from.
is_unreachable() {
  tail -n 20 "$1" | grep -qE 'connection broken|Temporary failure|Could not (resolve|connect)'
}
