# shellcheck shell=bash
# Sourced by scripts that fetch something into a folder of .deps/: whether all of it is still there.

# seal FOLDER: writes down the SHA-256 of its files, once all of them are there.
seal() {
  (cd "$1" && find . -type f ! -name '.sums*' ! -name .complete -print0 | sort -z |
    xargs -0 sha256sum >.sums.new && mv .sums.new .sums)
}

# is_whole FOLDER: whether its files are what they were when it was sealed. What an earlier version
# has fetched has no seal, and is taken as it is.
is_whole() {
  if [[ -d $1 && ! -e $1/.sums ]]; then return; fi
  (cd "$1" && sha256sum --check --status .sums) 2>/dev/null
}
