# shellcheck shell=bash
# Sourced by scripts that fetch something into a folder of .deps/: whether it is still what it was.

# seal FOLDER: writes down the SHA-256 of its files, once all of them are there, and of these lines.
seal() {
  (cd "$1" && sums=$(piece_files | xargs -r -0 sha256sum) &&
    printf '# %s\n%s\n' "$(digest <<<"$sums")" "$sums" >.sums.new && mv .sums.new .sums)
}

digest() { sha256sum | cut -d ' ' -f 1; }

# In the folder of a piece, which is the present one:
piece_files() { find . -type f ! -name '.sums*' ! -name .complete -print0 | LC_ALL=C sort -z; }
has_seal() { [[ $(head -n 1 .sums) == "# $(tail -n +2 .sums | digest)" ]]; }
sealed_files() { sed -e 1d -e 's/^[0-9a-f]*  //' .sums | LC_ALL=C sort; }
changed_files() {
  LC_ALL=C sha256sum --check --quiet .sums | sed -n 's|^\./\(.*\): FAILED.*|\1|p'
}
foreign_files() {
  piece_files | tr '\0' '\n' | LC_ALL=C comm -13 <(sealed_files) - | sed 's|^\./||'
}

# is_whole FOLDER: whether its files are what they were when it was sealed, and no others. What has
# no seal is not trusted.
is_whole() {
  (cd "$1" && has_seal && sha256sum --check --strict --status .sums &&
    [[ -z $(foreign_files) ]]) 2>/dev/null
}

# whole_files FOLDER: those that are, one a line; none without a seal.
whole_files() {
  (cd "$1" && has_seal && sealed_files | sed 's|^\./||' |
    grep -vxFf <(changed_files)) 2>/dev/null || true
}

# some_of: the first of many lines, in one.
some_of() {
  awk 'NR <= 3 { line = line (NR > 1 ? ", " : "") $0 }
       END { print line (NR > 3 ? " and " NR - 3 " more" : "") }'
}

# damaged_files FOLDER: a clause with those that are not.
damaged_files() {
  (
    if ! cd "$1" || ! has_seal; then echo ".sums missing or changed"; exit; fi
    changed=$(changed_files | some_of)
    foreign=$(foreign_files | some_of)
    echo "${changed:+$changed missing or changed${foreign:+, }}${foreign:+$foreign foreign}"
  ) 2>/dev/null || true
}
