# Completion of bash for holdfast(1).

_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command="" i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
        --)
            [[ $command == run ]] || return
            COMP_WORDS=("${COMP_WORDS[@]:i+1}")
            ((COMP_CWORD -= i + 1))
            if ((COMP_CWORD == 0)); then
                mapfile -t COMPREPLY < <(compgen -c -- "$current")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            return
            ;;
        run | inspect | list | top | release | ping) command=${command:-${COMP_WORDS[i]}} ;;
        esac
    done

    case $previous in
    --config | --password-file | --ca-file | --cert | --key)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    --store | --user | --quarantine | --wait | --ttl | --kill-after | --timeout | --interval | --count | --sentinel | --prefix | --table | --acl | -E | --conflict-exit-code)
        return
        ;;
    --sort)
        mapfile -t COMPREPLY < <(compgen -W "age ttl queue name" -- "$current")
        return
        ;;
    esac

    local options="--help --version --config --json --quiet --verbose --store --user --password-file
        --ca-file --cert --key --fenced --quarantine --first-deployment --primary --sentinel --prefix \
        --table --acl"
    case $command in
        run) options+=" --wait --try --ttl --kill-after --conflict-exit-code --" ;;
        inspect) options+="" ;;
        list) options+="" ;;
        top) options+=" --interval --sort --batch --count" ;;
        release) options+=" --force --yes" ;;
        ping) options+=" --timeout --count" ;;
        *) options+=" run inspect list top release ping" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -o filenames -F _holdfast holdfast
