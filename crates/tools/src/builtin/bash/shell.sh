# Runs one command with what earlier ones left, and leaves for the next: where it ended, its variables, functions, aliases and
# options. $1: the directory for that; $2: `keep`, `read` where nothing is to be left, or `fresh` where nothing of earlier
# commands is wanted either; $3: the number of the command; $4: `startup` where the user's own bash is asked for its aliases and
# functions first; $5: the command; then NAME=VALUE for this command alone.
__relay_own=$1 __relay_mode=$2 __relay_number=$3 __relay_startup=$4 __relay_command=$5
shift 5
__relay_scoped=' ' __relay_before='' __relay_saved=''
# Aliases count for the command alone: one of `[` must not be what this script takes for it. So all that runs once they count is
# read before. What was sourced may have functions of any name, too.
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
while builtin [ $# -gt 0 ]; do
  __relay_name=${1%%=*}
  __relay_before+=$(builtin declare -p "$__relay_name" 2>/dev/null)$'\n'
  __relay_scoped+="$__relay_name "
  builtin export "$1"
  builtin shift
done
__relay_save() {
  builtin [ -n "${__relay_saved-}" ] && return
  __relay_saved=1
  builtin local IFS=: __relay_set= __relay_shopt= __relay_aliased=-u __relay_names= __relay_functions= __relay_extglob=
  builtin local __relay_skip __relay_name
  for __relay_name in $SHELLOPTS; do
    # What ends a shell, or prints what it does, holds for its command alone.
    case $__relay_name in
    errexit | noexec | onecmd | verbose | xtrace) ;;
    *) __relay_set+=" -o $__relay_name" ;;
    esac
  done
  builtin set +aeu -f
  builtin pwd -P >|"$__relay_own/cwd.$__relay_number"
  builtin [ "$__relay_mode" = keep ] || { builtin set +f; return; }
  for __relay_name in ${BASHOPTS-}; do
    case $__relay_name in
    expand_aliases) ;;
    *) __relay_shopt+=" $__relay_name" ;;
    esac
  done
  builtin shopt -q expand_aliases && __relay_aliased=-s
  # What a shell sets itself, and what this command alone was given.
  __relay_skip='__relay_*|BASH|BASHOPTS|BASHPID|BASH_*|COMP_@(CWORD|KEY|LINE|POINT|TYPE|WORDBREAKS|WORDS)|COMPREPLY|DIRSTACK|EUID'
  __relay_skip+='|EPOCH@(REALTIME|SECONDS)|FUNCNAME|GROUPS|HIST@(CMD|CONTROL|FILE|FILESIZE|IGNORE|SIZE|TIMEFORMAT)|HOSTNAME|HOSTTYPE|IFS'
  __relay_skip+='|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_'
  __relay_skip+='|CI|TERM|NO_COLOR|TMPDIR|COLUMNS|LINES'
  # By a file: a second shell for each list costs more than all the rest. All names at once: so does a call for each.
  IFS=$'\n'
  {
    builtin shopt -q extglob || __relay_extglob=off
    builtin shopt -s extglob
    builtin compgen -v -X "@($__relay_skip${__relay_scoped// /|})"
    builtin printf '\0'
    builtin compgen -A function -X '__relay_*'
    builtin printf '\0'
    builtin [ -z "$__relay_extglob" ] || builtin shopt -u extglob
  } >|"$__relay_own/names"
  {
    builtin read -r -d '' __relay_names
    builtin read -r -d '' __relay_functions
  } <"$__relay_own/names"
  {
    if builtin [ -n "$__relay_shopt" ]; then
      builtin printf 'builtin shopt -u ${BASHOPTS//:/ }\nbuiltin shopt -s%s\n' "$__relay_shopt"
    else
      builtin shopt -p
      builtin printf 'builtin shopt -u expand_aliases\n'
    fi
    builtin printf '__relay_options=%q\n' \
      "builtin set +o \${SHELLOPTS//:/ +o }$__relay_set; builtin shopt $__relay_aliased expand_aliases"
    # Without names it would print all.
    builtin [ -z "$__relay_names" ] || builtin declare -p $__relay_names
    builtin printf '%s\n' "$__relay_before"
    builtin [ -z "$__relay_functions" ] || builtin declare -f -- $__relay_functions
    # Those that are exported, by name.
    builtin declare -Fx
    builtin alias -p
  } >|"$__relay_own/state.$__relay_number"
  # For what the command does at its end.
  builtin set +f
}
# Where the command ends the shell. Traces and traps of the command are not for what follows it.
__relay_end() {
  __relay_code=$?
  builtin set +xvk
  builtin trap - EXIT DEBUG ERR RETURN
  __relay_save
  builtin exit $__relay_code
}
builtin trap '{ __relay_end; } 2>/dev/null' EXIT
builtin set --
{
  builtin eval "$__relay_options"
  builtin eval -- "$__relay_command"
  { __relay_code=$?; builtin set +xvk; builtin trap - DEBUG ERR RETURN; __relay_save; } 2>/dev/null
  builtin exit $__relay_code
}
