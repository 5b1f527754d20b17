# shellcheck shell=bash
# Sourced by setup.sh and deps.sh: Debian packages from a list, and virtual environments in .deps/
# from lists of wheels. What is already there is left alone.
#
#   task            the script's name, for its lines (set before sourcing)
#   VERNIER_CACHE   a folder in which downloads are kept between fresh clones (default: pip's own)

# Its real place: a work tree may have a link to another one's.
deps=$(realpath -m .deps)
readonly deps
# The system's interpreter first: it is the one that python3-venv belongs to.
if [[ -x /usr/bin/python3 ]]; then python=/usr/bin/python3; else python=python3; fi

# shellcheck source=scripts/machine.sh
source scripts/machine.sh
# shellcheck source=scripts/pieces.sh
source scripts/pieces.sh

step() { echo "${task:?}: $*"; }

# What pip and apt-get end with when they are interrupted looks like any other failure, and must not
# pass for a framework that cannot be had.
interrupted() {
  step "interrupted: type the same command again, and it goes on where it was" >&2
  exit 130
}
trap interrupted INT

# A full disk is the reason for whatever else went wrong there.
fail() {
  if disk_is_full "$deps"; then say_disk_is_full "$deps"; else echo "$task: error: $*" >&2; fi
  exit 1
}

# For the end of a sentence that says what failed.
what_to_type() {
  if is_unreachable "$1"; then
    echo "; when there is a network, type the same command again"
  else
    echo "; see $1"
  fi
}

# What went wrong: that there is no network, or the last line that a failed command wrote.
reason() {
  local last
  if is_unreachable "$1"; then
    echo "its server cannot be reached"
    return
  fi
  last=$(grep -sv '^[[:space:]]*$' "$1" | grep -v '^\[notice\]' | tail -n 1) || true
  echo "${last:-it says nothing}"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# missing_packages LIST: those packages of the list that are not installed.
missing_packages() {
  local package
  for package in $(entries "$1"); do
    # A package of several architectures has a line for each; one installed is enough.
    dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || echo "$package"
  done
}

# unknown_packages LIST: those missing packages that the distribution does not have.
unknown_packages() {
  local package
  for package in $(missing_packages "$1"); do
    apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || echo "$package"
  done
}

# has_packages LIST WHAT: does the distribution have them all? Says so if not.
has_packages() {
  local unknown
  unknown=$(unknown_packages "$1")
  # On a machine without lists nothing is known.
  if [[ -n $unknown ]] && { [[ $(id -u) == 0 ]] || command -v sudo >/dev/null; }; then
    as_root apt-get update >"$deps/logs/apt.log" 2>&1 || true
    unknown=$(unknown_packages "$1")
  fi
  if [[ -z $unknown ]]; then return; fi
  step "$2: this distribution has no ${unknown//$'\n'/ }: passed over, and its tests are left out"
  return 1
}

# install_packages LIST WHAT: installs the missing ones, as root.
install_packages() {
  local missing log=$deps/logs/apt.log
  missing=$(missing_packages "$1")
  if [[ -z $missing ]]; then
    step "$2: all there"
    return
  fi
  missing=${missing//$'\n'/ }
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "Debian packages are missing and there is no sudo: type, as root: apt-get install $missing"
  fi
  step "$2: installing $missing"
  # Lists that cannot be renewed may still be good enough for the packages asked for.
  as_root apt-get update >"$log" 2>&1 || true
  # shellcheck disable=SC2086  # a list of names
  if as_root apt-get install --yes --no-install-recommends $missing >>"$log" 2>&1 </dev/null; then
    return
  fi
  if grep -qs 'another process using it' "$log"; then
    fail "another program is installing packages: when it has ended, type the same command again"
  fi
  fail "apt-get could not install the packages ($(reason "$log")): is there a network? Then type:" \
      "apt-get install $missing (all of its output is in $log)"
}

cannot_be_written() {
  fail "$1 cannot be written: make it writable, then type the same command again"
}

# venv NAME LIST: a virtual environment .deps/NAME, made anew when LIST, the interpreter or the
# place of this folder has changed. Packages are recorded one by one in .installed.
venv() {
  local folder=$deps/$1 stamp
  stamp=$({ cat "$2"; "$python" --version; echo "$folder"; } | sha256sum | cut -d ' ' -f 1)
  if [[ -e $folder ]] && ! has_marks "$folder" "$2" "$stamp"; then adopt "$1" "$2" "$stamp"; fi
  if [[ -e $folder ]]; then
    mend_frame "$1"
    check_interpreter "$1"
    forget_damaged "$1"
    return
  fi
  make_venv "$folder"
  { touch "$folder/.installed" && echo "$stamp" >"$folder/.stamp"; } 2>/dev/null ||
    cannot_be_written "$folder"
}

# has_marks FOLDER LIST STAMP: whether .stamp and .installed are those of a whole LIST.
has_marks() {
  [[ $(cat "$1/.stamp" 2>/dev/null) == "$3" ]] &&
    cmp --quiet <(entries "$2" | sort) <(sort "$1/.installed" 2>/dev/null)
}

# adopt NAME LIST STAMP: .deps/NAME is not finished, damaged or of another list. Where it can be of
# LIST, what it has of LIST counts as installed, once forget_damaged has read the files; else it is
# set aside.
adopt() {
  local folder=$deps/$1 found
  if ! found=$("$python" -B scripts/damaged-packages.py --of "$2" "$folder" 2>/dev/null); then
    step "$1: is of another list, Python or folder: made anew; the former one stays until all of" \
      "the new one is there"
    mv "$folder" "$folder.former" 2>/dev/null || cannot_be_written "$folder"
    return
  fi
  if [[ $(cat "$folder/.stamp" 2>/dev/null) == "$3" && -f $folder/.installed &&
    $(sort <<<"$found") == "$(sort "$folder/.installed")" ]]; then return; fi
  step "$1: .stamp or .installed does not fit what is there: each file is checked"
  {
    rm -rf "$folder/.stamp" "$folder/.installed" &&
      echo -n "${found:+$found$'\n'}" >"$folder/.installed" && echo "$3" >"$folder/.stamp"
  } 2>/dev/null || cannot_be_written "$folder"
}

# What was set aside comes back where its replacement is not complete.
restore_former() {
  local former
  for former in "$deps"/*.former; do
    if [[ -e $former ]]; then
      rm -rf "${former%.former}" && mv "$former" "${former%.former}"
      step "$(basename "$former" .former): the former one stays"
    fi
  done
}

# make_venv FOLDER [OPTION]: the environment with its pip, or what it lacks of these.
make_venv() {
  local log
  log=$deps/logs/$(basename "$1").log
  { "$python" -m venv "${@:2}" "$1" >"$log" 2>&1; } 2>/dev/null ||
    fail "python3 -m venv failed ($(reason "$log")); see $log"
}

# frame_of FOLDER: what is not of packages there, one a line with its state, and programs that are
# not executable.
frame_of() {
  local scripts=(activate activate.csh activate.fish Activate.ps1) file
  cd "$1" || return
  find lib64 bin -maxdepth 1 -regex 'lib64\|bin/python[0-9.]*' -printf '%p %l\n'
  for file in pyvenv.cfg "${scripts[@]/#/bin/}"; do
    echo "$file $(sed -e "s|$1|.|g" -e '/^command = /d' "$file" | sha256sum)"
  done
  find bin -type f ! -perm -100 ! -name '[aA]ctivate*' -printf '%p not executable\n'
}

# mend_frame NAME: what is not of packages is compared with a new environment's.
mend_frame() {
  local folder=$deps/$1 new=$deps/tmp/$1 changed
  make_venv "$new" --without-pip
  changed=$(diff <(frame_of "$new" 2>/dev/null | sort) <(frame_of "$folder" 2>/dev/null | sort) |
    sed -n 's/^[<>] \([^ ]*\) .*/\1/p' | sort -u | paste -s -d ' ') || true
  rm -rf "$new"
  if [[ -z $changed ]]; then return; fi
  step "$1: ${changed// /, } missing or changed: made anew"
  rm -rf "${folder:?}"/{lib64,pyvenv.cfg} \
    "$folder"/bin/{python,python3,python3.*,activate{,.csh,.fish},Activate.ps1} \
    2>/dev/null || cannot_be_written "$folder"
  make_venv "$folder" --without-pip
  find "$folder/bin" -type f ! -name '[aA]ctivate*' -exec chmod +x {} +
}

# check_interpreter NAME: of a folder that no mending helps, what to type.
check_interpreter() {
  local folder=$deps/$1 log=$deps/logs/$1.log prefix
  prefix=$("$folder/bin/python" -c 'import sys; print(sys.prefix)' 2>"$log") || true
  if [[ $prefix == "$folder" ]]; then return; fi
  fail "$folder/bin/python does not run as it should ($(reason "$log")): type rm -r $folder, then" \
    "the same command again"
}

# forget_damaged NAME: of packages in .deps/NAME that are not whole any more, it is no longer known
# that they are installed.
forget_damaged() {
  local folder=$deps/$1 log=$deps/logs/$1.log damaged
  damaged=$("$python" -B scripts/damaged-packages.py "$folder" 2>"$log") ||
    fail "$folder cannot be read ($(reason "$log")): type rm -r $folder, then the same command" \
      "again"
  if grep -q '[.]pyc$' <<<"$damaged"; then
    step "$1: damaged and removed, Python makes it anew:" \
      "$(grep '[.]pyc$' <<<"$damaged" | paste -s -d ' ')"
    damaged=$(grep -v '[.]pyc$' <<<"$damaged") || true
  fi
  if [[ -z $damaged ]]; then return; fi
  step "$1: files of ${damaged//$'\n'/, } are missing or changed: they are installed again"
  {
    grep -vxFf <(echo "$damaged") "$folder/.installed" >"$folder/.installed.new" || true
    mv "$folder/.installed.new" "$folder/.installed"
  } 2>/dev/null || cannot_be_written "$folder"
  # pip cannot mend itself.
  if grep -qx pip <<<"$damaged"; then
    rm -rf "$folder"/lib/python3*/site-packages/pip{,-*.dist-info}
    make_venv "$folder"
  fi
}

# pip NAME REQUIREMENT...: installs into .deps/NAME and records the requirements. Without
# dependencies: the lists are complete for their purpose. What an interrupted one left there is not
# believed, although pip would.
pip() {
  local log=$deps/logs/$1.log folder=$deps/$1 cache=()
  if [[ -n ${VERNIER_CACHE:-} ]]; then cache=(--cache-dir "$VERNIER_CACHE/pip"); fi
  shift
  TMPDIR=$deps/tmp "$folder/bin/python" -m pip --disable-pip-version-check install --no-deps \
    --ignore-installed --no-input --retries 3 --only-binary :all: "${cache[@]}" "$@" \
    >>"$log" 2>&1 || return 1
  printf '%s\n' "$@" >>"$folder/.installed"
  # Reads them once, so that the next set-up need not (digests.py).
  "$python" -B scripts/damaged-packages.py "$folder" >/dev/null
}

not_yet_installed() { entries "$2" | grep -vxFf "$deps/$1/.installed" || true; }

# environment NAME LIST WHAT: all of LIST in .deps/NAME, or the end.
environment() {
  local wanted
  venv "$1" "$2"
  mapfile -t wanted < <(not_yet_installed "$1" "$2")
  if [[ ${#wanted[@]} == 0 ]]; then
    step "$3: all there"
  else
    pip "$1" "${wanted[@]}" || {
      fail "$3: $(reason "$deps/logs/$1.log")$(what_to_type "$deps/logs/$1.log")"
    }
    step "$3: fetched into .deps/$1"
  fi
  rm -rf "$deps/$1.former"
}

# wheelhouse NAME LIST: the same packages as files in .deps/NAME/wheels, from which tests fill
# environments of their own without a network.
wheelhouse() {
  local folder=$deps/$1 log=$deps/logs/$1.log cache=()
  if is_whole "$folder/wheels" has_wheels "$folder" "$2"; then
    touch "$folder/wheels/.complete"
    return
  fi
  if [[ -e $folder/wheels ]]; then
    step "$1: $(damaged_files "$folder/wheels"): all wheels are fetched again, and the old ones" \
      "stay until then"
    rm -f "$folder/wheels/.complete"  # tests must not use them
  fi
  rm -rf "$folder/wheels.new" 2>/dev/null || cannot_be_written "$folder/wheels.new"
  if [[ -n ${VERNIER_CACHE:-} ]]; then cache=(--cache-dir "$VERNIER_CACHE/pip"); fi
  TMPDIR=$deps/tmp "$folder/bin/python" -m pip --disable-pip-version-check download --no-deps --no-input \
    --retries 3 --only-binary :all: "${cache[@]}" --dest "$folder/wheels.new" --requirement "$2" \
    >>"$log" 2>&1 || fail "$1: $(reason "$log")$(what_to_type "$log")"
  { seal "$folder/wheels.new" && rm -rf "$folder/wheels" && mv "$folder/wheels"{.new,} &&
    touch "$folder/wheels/.complete"; } 2>/dev/null || cannot_be_written "$folder/wheels"
}

# has_wheels FOLDER LIST: whether each package of LIST is there, with the checksums of its files.
has_wheels() {
  "$python" -c 'import sys, zipfile
sys.exit(any(map(zipfile.ZipFile.testzip, map(zipfile.ZipFile, sys.argv[1:]))))' \
    "$1"/wheels/*.whl 2>/dev/null &&
    [[ $(find "$1/wheels" -name '*.whl' | wc -l) == $(entries "$2" | wc -l) ]]
}

# Others may be installing into .deps/ at the same time: waits for them.
lock_deps() {
  check_writable || exit 1
  mkdir -p "$deps/logs" 2>/dev/null || fail "the folder $deps/logs cannot be made"
  { exec {lock}>"$deps/lock"; } 2>/dev/null || fail "$deps/lock cannot be written"
  flock "$lock"
  # Of pip: /tmp may be small. What an interrupted one left goes, also of trained-networks.py.
  rm -rf "$deps/tmp" "$deps"/trained/.partial-*
  mkdir -p "$deps/tmp"
  restore_former
  trap restore_former EXIT
}
