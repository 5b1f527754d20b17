# shellcheck shell=bash
# Sourced by scripts that take a file out of a package of another release, or a package's source.
# The apt that they use is their own: this machine's lists, sources and caches are neither read nor
# changed.

# The mirror of this machine's apt sources that serves component $2 of the release $1. A source may
# call its release by another name, such as "stable"; then the first one with the component counts.
mirror_of() {
  apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
    awk -v release="$1" -v component="$2" '
      $1 != "Packages" || $4 != component { next }
      $3 == release { exact = exact ? exact : $2 }
      { first = first ? first : $2 }
      END { print exact ? exact : first }'
}

# The keyring that this machine's sources name for the mirror $1, if any.
signed_by() {
  local host=${1#*://}
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
    awk -v host="${host%/}" 'BEGIN { RS = "" } index($0, host)' |
    sed -n -E -e 's/^Signed-By:[[:space:]]*(\/[^[:space:]]+)$/\1/Ip' \
      -e 's/^deb .*signed-by=(\/[^], ]+).*/\1/Ip' | head -n 1
}

# The name of this machine's release.
own_release() {
  # shellcheck disable=SC1091
  (. /etc/os-release && echo "${UBUNTU_CODENAME:-${VERSION_CODENAME:-sid}}")
}

# own_apt FOLDER TYPE MIRROR RELEASE COMPONENT COMMAND...: an apt-get command, run in FOLDER, that
# knows one source alone: TYPE is "deb" for packages and "deb-src" for their sources.
own_apt() {
  local own=$1 key
  key=$(signed_by "$3") || key=
  rm -rf "$own"
  mkdir -p "$own/state/lists/partial" "$own/cache/archives/partial"
  echo "$2 ${key:+[signed-by=$key] }$3 $4 $5" >"$own/sources.list"
  local options=(
    -o "Dir::Etc::SourceList=$own/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State=$own/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$own/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20
  )
  apt-get "${options[@]}" update >&2 && (cd "$own" && apt-get "${options[@]}" "${@:6}" >&2)
}
