# Runs one command with what earlier ones left, and leaves for the next: where it ended, its variables, functions, aliases and
# options. $1: the directory for that; $2: `keep`, `read` where nothing is to be left, or `fresh` where nothing of earlier
# commands is wanted either; $3: the number of the command; $4: `startup` where the user's own bash is asked for its aliases and
# functions first; $5: the command; then NAME=VALUE for this command alone.
__relay_own=$1 __relay_mode=$2 __relay_number=$3 __relay_startup=$4 __relay_command=$5
shift 5
__relay_scoped=' ' __relay_before='' __relay_saved=''
# Aliases count for the command alone: one of `[` must not be what this script takes for it.
__relay_options='builtin shopt -s expand_aliases'
if [ "$__relay_mode" != fresh ]; then
  if [ -r "$__relay_own/state" ]; then
    . "$__relay_own/state" 2>/dev/null
  elif [ "$__relay_startup" = startup ] && [ -r ~/.bashrc ]; then
    # An interactive bash, because most start-up files do nothing for others; it ignores TERM, and would stop at a terminal that
    # is not its own. What it prints by itself goes nowhere, and what it leaves running holds nothing up.
    {
      timeout -s KILL 10 setsid bash --noprofile -ic 'builtin alias -p >&3; builtin declare -f >&3' \
        3>|"$__relay_own/startup" </dev/null >/dev/null
    } 2>/dev/null
    . "$__relay_own/startup" 2>/dev/null
  fi
fi
while [ $# -gt 0 ]; do
  __relay_name=${1%%=*}
  __relay_before+=$(builtin declare -p "$__relay_name" 2>/dev/null)$'\n'
  __relay_scoped+="$__relay_name "
  builtin export "$1"
  shift
done
__relay_save() {
  [ -n "${__relay_saved-}" ] && return
  __relay_saved=1
  # What ends a shell, or prints what it does, holds for its command alone.
  builtin local IFS=$' \t\n' __relay_name __relay_set __relay_shopt __relay_aliased
  # By files: a second shell for each list costs more than all the rest.
  builtin set +o >|"$__relay_own/set"
  builtin set +aefu
  builtin pwd -P >|"$__relay_own/cwd.$__relay_number"
  [ "$__relay_mode" = keep ] || return
  builtin shopt -p >|"$__relay_own/shopt"
  builtin shopt -p expand_aliases >|"$__relay_own/aliased"
  builtin compgen -v >|"$__relay_own/names"
  builtin compgen -A function >|"$__relay_own/functions"
  builtin read -r -d '' __relay_set <"$__relay_own/set"
  builtin read -r -d '' __relay_shopt <"$__relay_own/shopt"
  builtin read -r -d '' __relay_aliased <"$__relay_own/aliased"
  for __relay_name in errexit noexec onecmd verbose xtrace; do
    __relay_set=${__relay_set//set [+-]o $__relay_name/}
  done
  __relay_set+=$'\n'$__relay_aliased
  __relay_shopt=${__relay_shopt//shopt -[su] expand_aliases/}
  {
    builtin printf '%s\n__relay_options=%q\n' "$__relay_shopt" "$__relay_set"
    while builtin read -r __relay_name; do
      case $__relay_name in
      __relay_* | BASH* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | HIST* | HOSTNAME | HOSTTYPE | IFS | LINENO | MACHTYPE | \
        OLDPWD | OPTERR | OPTIND | OSTYPE | PIPESTATUS | PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | _) ;;
      CI | TERM | NO_COLOR | TMPDIR | COLUMNS | LINES) ;;
      *)
        case $__relay_scoped in
        *" $__relay_name "*) ;;
        *) builtin declare -p "$__relay_name" ;;
        esac
        ;;
      esac
    done <"$__relay_own/names"
    builtin printf '%s\n' "$__relay_before"
    while builtin read -r __relay_name; do
      case $__relay_name in
      __relay_*) ;;
      *) builtin declare -f "$__relay_name" ;;
      esac
    done <"$__relay_own/functions"
    builtin alias -p
  } >|"$__relay_own/state.$__relay_number"
}
trap '{ __relay_code=$?; builtin set +xv; builtin trap - EXIT; __relay_save; } 2>/dev/null; builtin exit $__relay_code' EXIT
builtin set --
builtin eval "$__relay_options"
builtin eval "$__relay_command"
{ __relay_code=$?; builtin set +xv; __relay_save; } 2>/dev/null
builtin exit $__relay_code
