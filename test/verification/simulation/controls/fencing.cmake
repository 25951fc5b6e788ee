# Fencing tokens

holdfast_control(fenced_no_second_round "a node that granted less than the token gets no write-back"
    EDIT src/redis/quorum/token_round.cpp
        "        round_.record(node, vote::pending);
        to_write_back_ |= bit_of(node);"
        "")

holdfast_control(fenced_token_published_early "the token is published before a majority stores it"
    EDIT src/redis/quorum/token_round.cpp
        "        round_.record(node, vote::pending);"
        "")

holdfast_control(fenced_refusing_nodes_count "a node that refuses counts as if its counter were large enough"
    EDIT src/redis/quorum/token_round.cpp
        "    round_.record(node, v);"
        "    const bool counts = v == vote::refused
        && *std::max_element(starts_.begin(), starts_.end()) != 0;
    round_.record(node, counts ? vote::granted : v);
    if (counts && token_ == 0 && round_.count(vote::granted) == majority(nodes_))
        fix_token();"
    EDIT src/redis/claim/claim.cpp
        "    if (v != vote::unknown)"
        "    if (round.is_fenced() && round.votes().of(node) == vote::granted) {
        keys[node].state = key::ours;
        keys[node].until = end_of(round_began);
    } else if (v != vote::unknown)")

holdfast_control(fenced_larger_grant_counts "a node that granted more than the token counts"
    EDIT src/redis/quorum/token_round.cpp
        "        round_.record(node, vote::refused);
    } else if"
        "    } else if")

holdfast_control(fenced_lost_raise_counts "a node that lost the key before the write-back counts"
    EDIT src/redis/quorum/token_round.cpp
        "        round_.record(node, vote::refused);
        break;"
        "        round_.record(node, vote::granted);
        break;"
    EDIT src/redis/claim/claim.cpp
        "answer == write_back_answer::ok && !n.lost ? key::ours : key::repaired"
        "key::ours")

holdfast_control(fenced_unconditional_raise "a write-back checks neither the key nor the counter"
    EDIT src/redis/node/fence_scripts.hpp
        "if redis.pcall('get',KEYS[1])==ARGV[1] and redis.pcall('get',KEYS[2])==ARGV[2] then"
        "if true then"
    COMPILE ${users_of_scripts})

holdfast_control(fenced_raise_to_the_token "a write-back stores the token, not the end of its block"
    EDIT src/redis/quorum/token_round.cpp
        "end_of_block(starts_[node]), end_of_block(token_)}"
        "end_of_block(starts_[node]), token_}")

holdfast_control(fenced_block_of_one "a grant reserves only its first token"
    EDIT src/redis/node/fence_scripts.hpp
        "string.format('%.0f',start+ARGV[5]-1)"
        "string.format('%.0f',start)"
    EDIT src/redis/quorum/token_round.cpp
        "{node, end_of_block(starts_[node]), end_of_block(token_)}"
        "{node, starts_[node], token_}"
    COMPILE ${users_of_scripts})

holdfast_control(fenced_unchecked_tokens "the protected resource does not check tokens"
    EDIT test/verification/simulation/referee.cpp
        "if (who.token && *who.token < r.largest_token) {"
        "if (false) {")

holdfast_control(fenced_no_floor "a missing counter starts from 1 again"
    EDIT src/redis/node/fence_scripts.hpp
        "math.max(last and last+1 or \"
    \"now*1024,math.min(ARGV[4],(now+ARGV[8])*1024),from*1024)"
        "last and last+1 or 1"
    COMPILE ${users_of_scripts})

holdfast_control(fenced_no_quarantine "a node that may have lost data grants at once"
    EDIT src/redis/node/fence_scripts.hpp
        "else from=now+ARGV[7] end"
        "else from=now end"
    COMPILE ${users_of_scripts})

holdfast_control(fenced_outruns_the_clock "tokens come in large blocks, and nodes store values far ahead of the clock"
    EDIT src/redis/dialect/token_supply.cpp
        "    if (from >= end)
        return 1;"
        "    if (from > 0)
        return largest_block;"
    EDIT src/redis/dialect/fenced_dialect.cpp
        "    return last - in_ms"
        "    if (last > 0)
        return true;
    return last - in_ms"
    EDIT src/redis/node/fence_scripts.hpp
        "local over=start+ARGV[5]-(now+math.floor(ARGV[7]/2)+1)*1024 "
        "local over=0 "
    EDIT src/redis/node/fence_scripts.hpp
        "if not (ARGV[3]-(t[1]*1000+math.floor(t[2]/1000)+ARGV[5]+1)*1024<0) then return -1 end "
        ""
    COMPILE ${users_of_scripts})
