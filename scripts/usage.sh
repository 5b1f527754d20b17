# shellcheck shell=bash
# Sourced first by scripts that a user types: with --help or -h as the first word they print what
# stands at their head, and end.

# What to type again, also for those that this one starts.
# shellcheck disable=SC2034
if [[ -n ${VERNIER_TYPED:-} ]]; then outermost=false; else outermost=true; fi
if $outermost; then
  VERNIER_TYPED=$(printf ' %q' "$0" "$@")
  export VERNIER_TYPED=${VERNIER_TYPED# }
fi

usage_error() {
  echo "$(basename "$0"): $*; $0 --help says what there is" >&2
  exit 2
}

# at_most N WORD...: refuses options, and more words than that.
at_most() {
  local most=$1 word
  shift
  for word in "$@"; do
    if [[ $word == -* ]]; then usage_error "unknown argument '$word'"; fi
  done
  if (($# > most)); then usage_error "unexpected argument '${*:most+1:1}'"; fi
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -e '1d' -e '/^#/!Q' -e 's/^# \{0,1\}//' "$0"
  exit 0
fi
