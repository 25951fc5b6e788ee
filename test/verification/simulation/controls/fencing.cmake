# Fencing tokens

holdfast_control(fenced_first_ballot_counts "after a second ballot, nodes count that accepted only the first"
    EDIT src/redis/quorum/ballot_round.cpp
        "n.state == ballot_state::accepted && n.number >= least;"
        "n.state == ballot_state::accepted;"
    RUN --fenced)

holdfast_control(fenced_refusals_count "a node that refuses the ballot counts as if it had accepted it"
    EDIT src/redis/quorum/ballot_round.cpp
        "    case ballot_answer::refused:
        n.state = ballot_state::refused;"
        "    case ballot_answer::refused:
        n.state = ballot_state::accepted;"
    RUN --fenced)

holdfast_control(fenced_key_is_enough "a node that holds the key counts before it accepts the ballot"
    EDIT src/redis/quorum/ballot_round.cpp
        "return n.has_key && !n.excluded && n.state == ballot_state::accepted && n.number >= least;"
        "return n.has_key && !n.excluded;"
    RUN --fenced)

holdfast_control(fenced_early_ballot_counts "a ballot counts that precedes the request for the key"
    EDIT src/redis/quorum/ballot_round.cpp
        "        n.state = ballot_state::refused; // whatever its answer will be"
        "        (void)n;"
    RUN --fenced)

holdfast_control(fenced_makes_registers "a ballot makes the register that a node has lost"
    EDIT src/redis/dialect/fenced_calls.cpp
        "\"XX\", \"GT\", \"CH\""
        "\"GT\", \"CH\""
    RUN --fenced)

holdfast_control(fenced_smaller_ballots "a register accepts smaller ballots"
    EDIT src/redis/dialect/fenced_calls.cpp
        "\"XX\", \"GT\", \"CH\""
        "\"XX\", \"CH\""
    RUN --fenced)

holdfast_control(fenced_no_quarantine "a node that may have lost data accepts ballots at once"
    EDIT src/redis/node/fence_scripts.hpp
        "else from=math.max(now,tonumber(ARGV[4]))+ARGV[3] end "
        "else from=now end "
    RUN --fenced
    COMPILE ${users_of_scripts})

holdfast_control(fenced_registers_begin_at_zero "the registers of a node that has lost its data begin at 0"
    EDIT src/redis/node/fence_scripts.hpp
        "local least,a=string.format('%.0f',from*8),{} "
        "local least,a='0',{} "
    RUN --fenced
    COMPILE ${users_of_scripts})

holdfast_control(fenced_registers_begin_now "the registers of a node that has lost its data begin at its clock"
    EDIT src/redis/node/fence_scripts.hpp
        "local least,a=string.format('%.0f',from*8),{} "
        "local least,a=string.format('%.0f',now*8),{} "
    RUN --fenced
    COMPILE ${users_of_scripts})

holdfast_control(fenced_restart_unnoticed "a node that was restarted with old data is trusted"
    EDIT src/redis/node/fence_scripts.hpp
        "if not whole or who~=ARGV[2] then "
        "if not whole then "
    RUN "--resting --fenced"
    COMPILE ${users_of_scripts})

holdfast_control(fenced_outruns_the_clock "ballots go by half a second at a time, and are further ahead than \`ahead\`"
    EDIT src/redis/dialect/fenced_dialect.cpp
        "if (k > clock + ahead)"
        "if (false)"
    EDIT src/redis/dialect/fenced_dialect.cpp
        "used + 1,"
        "used + 4000,"
    EDIT src/redis/dialect/fenced_dialect.cpp
        "    if (over > 0) {"
        "    if (false) {"
    RUN --fenced)

holdfast_control(fenced_tokens_overlap "a token is the ballot plus a place, so that tokens of two ballots overlap"
    EDIT src/redis/dialect/fenced_dialect.cpp
        "return ballot * tokens_in_ballot"
        "return ballot"
    EDIT src/redis/claim/claim_round.cpp
        "fence_->round.published() * tokens_in_ballot"
        "fence_->round.published()"
    RUN --fenced)

holdfast_control(fenced_unchecked_tokens "the protected resource does not check tokens"
    EDIT test/verification/simulation/referee.cpp
        "if (who.token && *who.token < r.largest_token) {"
        "if (false) {"
    RUN --fenced)
