#!/bin/sh
# The commands of the compaction protocol, answered by holdfast. It decides nothing itself: every
# word is handed on, and the exit code is holdfast's own (2 for words that are none of these).
set -eu

usage() {
    cat <<'TEXT'
usage: context-manager.sh compact [--dry-run]     show what would be compacted; changes nothing
       context-manager.sh rules [--json]          show the rules in force
       context-manager.sh preserve [SECTION]      check that critical sections exist
       context-manager.sh recover 1|2|3           what is known, in about 100, 500 or 2000 tokens
TEXT
}

wrong() {
    usage >&2
    exit 2
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
compact)
    [ $# -eq 0 ] || { [ $# -eq 1 ] && [ "$1" = --dry-run ]; } || wrong
    exec holdfast compress --dry-run
    ;;
rules)
    [ $# -eq 0 ] && exec holdfast rules
    [ $# -eq 1 ] && [ "$1" = --json ] || wrong
    exec holdfast rules --json
    ;;
preserve)
    [ $# -le 1 ] || wrong
    # What begins with a dash is no section; holdfast would take it for an option.
    case ${1:-} in -*) wrong ;; esac
    exec holdfast preserve "$@"
    ;;
recover)
    [ $# -eq 1 ] || wrong
    case $1 in 1 | 2 | 3) exec holdfast recover --level "$1" ;; esac
    wrong
    ;;
-h | --help | help)
    usage
    ;;
*)
    wrong
    ;;
esac
