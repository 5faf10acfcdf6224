# Runs one command with what earlier ones left, and leaves for the next: where it ended, its variables, its functions.
# $1: the directory for that; $2: `keep`, `read` where nothing is to be left, or `fresh` where nothing of earlier commands is
# wanted either; $3: the number of the command; $4: the command; then NAME=VALUE for this command alone.
__relay_own=$1 __relay_mode=$2 __relay_number=$3 __relay_command=$4
shift 4
__relay_scoped=' ' __relay_before='' __relay_saved=''
if [ "$__relay_mode" != fresh ] && [ -r "$__relay_own/state" ]; then
  . "$__relay_own/state" 2>/dev/null
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
  builtin set +eux
  builtin local IFS=$' \t\n' __relay_name
  builtin pwd -P >|"$__relay_own/cwd.$__relay_number"
  [ "$__relay_mode" = keep ] || return
  {
    for __relay_name in $(builtin compgen -v); do
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
    done
    builtin printf '%s\n' "$__relay_before"
    for __relay_name in $(builtin compgen -A function); do
      case $__relay_name in
      __relay_*) ;;
      *) builtin declare -f "$__relay_name" ;;
      esac
    done
  } >|"$__relay_own/state.$__relay_number"
}
trap '__relay_code=$?; trap - EXIT; __relay_save 2>/dev/null; builtin exit $__relay_code' EXIT
builtin set --
builtin eval "$__relay_command"
__relay_code=$?
__relay_save 2>/dev/null
builtin exit $__relay_code
