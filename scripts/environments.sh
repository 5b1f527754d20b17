# shellcheck shell=bash
# Sourced by setup.sh and deps.sh: Debian packages from a list, and virtual environments in .deps/
# from lists of wheels. What is already there is left alone.
#
#   task            the script's name, for its lines (set before sourcing)
#   VERNIER_CACHE   a folder in which downloads are kept between fresh clones (default: pip's own)

# shellcheck source=scripts/machine.sh
source scripts/machine.sh
# shellcheck source=scripts/pieces.sh
source scripts/pieces.sh

# Its real place: a work tree may have a link to another one's.
deps=$(realpath -m .deps)
readonly deps
# Of the user's own Python: set-up needs none of it, and some keep any Python from running.
unset "${!PYTHON@}"
# The system's interpreter first: it is the one that python3-venv belongs to.
if [[ -x /usr/bin/python3 ]]; then python=/usr/bin/python3; else python=python3; fi

step() { echo "${task:?}: $*"; }

# The list and the folder of what is being fetched (room_for).
fetching=(/dev/null "$deps/none")

# Too little room is the reason for whatever else went wrong there.
fail() {
  if is_out_of_room "$deps"; then
    say_no_room "$(room_for "${fetching[@]}")" "$deps"
  else
    echo "$task: error: $*" >&2
  fi
  exit 1
}

# fail_of_log WHAT LOG: of the last logged command.
fail_of_log() { fail "$1: $(reason)$(what_to_type "$2")"; }

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
    logged "$deps/logs/apt.log" as_root apt-get update || true
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
  logged "$log" as_root apt-get update || true
  # Not logged(), which would wait for the services that packages start.
  # shellcheck disable=SC2086  # a list of names
  if as_root apt-get install --yes --no-install-recommends $missing >>"$log" 2>&1 </dev/null; then
    return
  fi
  said=$(tail -n 60 "$log")
  if grep -q 'another process using it' <<<"$said"; then
    fail "another program is installing packages: when it has ended, type $typed again"
  fi
  if is_out_of_room "$deps"; then
    say_no_room 300 /usr /var/cache/apt
    exit 1
  fi
  fail "apt-get could not install the packages ($(reason)): is there a network? Then type:" \
      "apt-get install $missing (all of its output is in $log)"
}

# cannot_be_written PATH: it is another user's, or something else is in the way there.
cannot_be_written() {
  local remedy='make it writable'
  if [[ -w $1 ]]; then remedy="type rm -r $(printf %q "$1")"; fi
  fail "$1 cannot be written: $remedy, then type $typed again"
}

# cannot_be_read FOLDER: of the last logged command.
cannot_be_read() {
  fail "$1 cannot be read ($(reason)): type rm -r $(printf %q "$1"), then type $typed again"
}

# venv NAME LIST: a virtual environment .deps/NAME, made anew when LIST, the interpreter or the
# place of this folder has changed. Packages are recorded one by one in .installed.
venv() {
  local folder=$deps/$1 stamp
  stamp=$({ entries "$2"; "$python" --version; echo "$folder"; } | sha256sum | cut -d ' ' -f 1)
  if [[ -e $folder ]] && ! has_marks "$folder" "$2" "$stamp"; then adopt "$1" "$2" "$stamp"; fi
  if [[ -e $folder ]]; then
    mend_frame "$1"
    forget_damaged "$1"
    check_interpreter "$1"
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
    (entries "$2" >"$folder/.replacement") 2>/dev/null || true
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
    if [[ ! -e $former ]]; then continue; fi
    if has_replaced "${former%.former}"; then
      discard "$former"
    else
      discard "${former%.former}" && mv "$former" "${former%.former}" &&
        step "$(basename "$former" .former): the former one stays"
    fi
  done
}

# has_replaced FOLDER: whether FOLDER has all that was to replace FOLDER.former, as far as that is
# known of one that is half removed.
has_replaced() {
  [[ -s $1/.stamp && -s $1/.installed ]] &&
    ! grep -qvxFf "$1/.installed" "$1.former/.replacement" 2>/dev/null
}

# discard PATH: renamed before it is removed, so that what an interruption leaves of it is not used
# for a whole one; the next run removes that.
discard() {
  local gone
  gone=$deps/tmp/gone-$(basename "$1")
  if [[ ! -e $1 && ! -L $1 ]]; then return; fi
  rm -rf "$gone" && mkdir -p "$deps/tmp" && mv -T "$1" "$gone" && rm -rf "$gone"
}

# make_venv FOLDER [OPTION]: the environment with its pip, or what it lacks of these.
make_venv() {
  local log
  log=$deps/logs/$(basename "$1").log
  logged "$log" "$python" -m venv "${@:2}" "$1" ||
    fail "python3 -m venv failed ($(reason))$(what_to_type "$log")"
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

# printed LOG COMMAND...: as logged, but `said` has nothing of what a command that succeeds says on
# stderr, and all of the rest.
printed() {
  local words
  if words=$("${@:2}" 2>/dev/null </dev/null | { tee -a "$1" 2>/dev/null || true; }); then
    said=$words
  else
    logged "$@"
  fi
}

# check_interpreter NAME: of a folder that no mending helps, what to type.
check_interpreter() {
  local folder=$deps/$1 log=$deps/logs/$1.log
  if runs_in "$folder" "$log"; then return; fi
  set_foreign_aside "$1"  # Python may have run into one of these
  if runs_in "$folder" "$log"; then return; fi
  fail "$folder/bin/python does not run as it should ($(reason)):" \
    "type rm -r $(printf %q "$folder"), then type $typed again"
}

# runs_in FOLDER LOG: whether its Python runs and takes the folder for its own.
runs_in() {
  printed "$2" "$1/bin/python" -I -c 'import sys; print(sys.prefix)' &&
    [[ $(tail -n 1 <<<"$said") == "$1" ]]
}

# forget_damaged NAME: of packages in .deps/NAME that are not whole any more, it is no longer known
# that they are installed.
forget_damaged() {
  local folder=$deps/$1 log=$deps/logs/$1.log damaged
  printed "$log" "$python" -B scripts/damaged-packages.py "$folder" ||
    cannot_be_read "$folder"
  damaged=$said
  if grep -q '[.]pyc$' <<<"$damaged"; then
    step "$1: damaged and removed, Python makes it anew:" \
      "$(grep '[.]pyc$' <<<"$damaged" | some_of)"
    damaged=$(grep -v '[.]pyc$' <<<"$damaged") || true
  fi
  if [[ -z $damaged ]]; then return; fi
  step "$1: files of ${damaged//$'\n'/, } are missing or changed: they are installed again"
  {
    { grep -vxFf <(echo "$damaged") "$folder/.installed" || [[ $? == 1 ]]; } \
      >"$folder/.installed.new" &&
      mv "$folder/.installed.new" "$folder/.installed"
  } 2>/dev/null || cannot_be_written "$folder"
  # pip cannot mend itself, and setuptools is of no list.
  if grep -qx 'pip\|setuptools' <<<"$damaged"; then
    rm -rf "$folder"/lib/python3*/site-packages/pip{,-*.dist-info}
    if grep -qx setuptools <<<"$damaged"; then
      rm -rf "$folder"/lib/python3*/site-packages/{setuptools{,-*.dist-info},pkg_resources} \
        "$folder"/lib/python3*/site-packages/{_distutils_hack,distutils-precedence.pth}
    fi
    make_venv "$folder"
    "$python" -B scripts/damaged-packages.py "$folder" >/dev/null  # as in pip
  fi
}

# set_foreign_aside NAME: files that are of no package, which Python might import instead of one.
set_foreign_aside() {
  local folder=$deps/$1 aside=$deps/foreign/$1 file
  printed "$deps/logs/$1.log" "$python" -B scripts/damaged-packages.py --foreign "$folder" ||
    cannot_be_read "$folder"
  if [[ -z $said ]]; then return; fi
  step "$1: of no package, and set aside in $aside: $(some_of <<<"$said")"
  while IFS= read -r file; do
    mkdir -p "$(dirname "$aside/$file")" 2>/dev/null || cannot_be_written "$deps/foreign"
    mv --backup=numbered "$folder/$file" "$aside/$file" ||
      fail "$folder/$file is of no package: move it elsewhere, then type $typed again"
  done <<<"$said"
}

# run_pip NAME COMMAND WORD...: the pip of .deps/NAME, for whole wheels.
run_pip() {
  local cache=()
  if [[ -n ${VERNIER_CACHE:-} ]]; then cache=(--cache-dir "$VERNIER_CACHE/pip"); fi
  TMPDIR=$deps/tmp logged "$deps/logs/$1.log" "$deps/$1/bin/python" -m pip \
    --disable-pip-version-check "$2" --no-deps --no-input --retries 3 --only-binary :all: \
    --progress-bar off "${cache[@]}" "${@:3}"
}

# pip NAME REQUIREMENT...: installs into .deps/NAME and records the requirements. Without
# dependencies: the lists are complete for their purpose. What an interrupted one left there is not
# believed, although pip would.
pip() {
  local folder=$deps/$1
  run_pip "$1" install --ignore-installed "${@:2}" || return
  printf '%s\n' "${@:2}" 2>/dev/null >>"$folder/.installed" || cannot_be_written "$folder"
  # Reads them once, so that the next set-up need not (digests.py).
  "$python" -B scripts/damaged-packages.py "$folder" >/dev/null
}

not_yet_installed() { entries "$2" | grep -vxFf "$deps/$1/.installed" || true; }

# environment NAME LIST WHAT: all of LIST in .deps/NAME, or the end.
environment() {
  local wanted fetching=("$2" "$deps/$1")
  venv "$1" "$2"
  mapfile -t wanted < <(not_yet_installed "$1" "$2")
  if [[ ${#wanted[@]} == 0 ]]; then
    step "$3: all there"
  else
    pip "$1" "${wanted[@]}" || fail_of_log "$3" "$deps/logs/$1.log"
    step "$3: fetched into .deps/$1"
  fi
  discard "$deps/$1.former"
  set_foreign_aside "$1"
}

# wheelhouse NAME LIST: the same packages as files in .deps/NAME/wheels, from which tests fill
# environments of their own without a network. Those that are whole are not fetched again.
wheelhouse() {
  local folder=$deps/$1/wheels wanted fetching=("$2" "$deps/$1")
  if is_whole "$folder" && [[ -z $(missing_wheels "$folder" "$2") ]]; then
    touch "$folder/.complete"
    return
  fi
  { rm -rf "$folder.new" && mkdir "$folder.new"; } 2>/dev/null || cannot_be_written "$folder.new"
  if [[ -e $folder ]]; then
    step "$1: $(damaged_files "$folder"): fetched again, and the old wheels stay until then"
    rm -f "$folder/.complete"  # tests must not use them
    (cd "$folder" && whole_files . | xargs -r -d '\n' ln --target-directory="$folder.new" --)
  fi
  mapfile -t wanted < <(missing_wheels "$folder.new" "$2")
  if [[ ${#wanted[@]} != 0 ]]; then
    run_pip "$1" download --dest "$folder.new" "${wanted[@]}" ||
      fail_of_log "$1" "$deps/logs/$1.log"
  fi
  { seal "$folder.new" && rm -rf "$folder" && mv "$folder"{.new,} &&
    touch "$folder/.complete"; } 2>/dev/null || cannot_be_written "$folder"
}

# missing_wheels FOLDER LIST: those lines of LIST of which FOLDER has no wheel.
missing_wheels() {
  local lines line there plain=(tr '[:upper:].-' '[:lower:]__')
  there=$(find "$1" -name '*.whl' -printf '%f\n' | "${plain[@]}")
  mapfile -t lines < <(entries "$2")
  for line in "${lines[@]}"; do
    if ! grep -q "^$("${plain[@]}" <<<"${line/==/-}-")" <<<"$there"; then echo "$line"; fi
  done
}

# Others may be installing into .deps/ at the same time: waits for them.
lock_deps() {
  check_writable || exit 1
  if [[ -e $deps && ! -d $deps ]]; then cannot_be_written "$deps"; fi
  mkdir -p "$deps/logs" 2>/dev/null || cannot_be_written "$deps/logs"
  if [[ -e $deps/lock && ! -f $deps/lock ]]; then cannot_be_written "$deps/lock"; fi
  { exec {lock}>"$deps/lock"; } 2>/dev/null || cannot_be_written "$deps/lock"
  if ! flock --nonblock "$lock" 2>/dev/null; then
    step "another set-up is at work in $deps: waiting for it"
    flock "$lock" || fail "$deps/lock cannot be locked: type $typed again"
  fi
  # Of pip: /tmp may be small. What an interrupted one left goes, also of trained-networks.py.
  { rm -rf "$deps/tmp" "$deps"/trained/.partial-* && mkdir -p "$deps/tmp"; } 2>/dev/null ||
    cannot_be_written "$deps/tmp"
  restore_former
  trap restore_former EXIT
}
