#pragma once

#include <string_view>

// The texts of queries for MariaDB and MySQL, with names in braces for what statements.cpp puts
// there.
//
// A statement is one packet with three commands: it sets variables, changes rows, and reads what
// has become of them. The second command is one INSERT … ON DUPLICATE KEY UPDATE, which commits by
// itself: no transaction stays open if the client stands still. MariaDB heeds SKIP LOCKED in the
// SELECT of an INSERT, and not in an UPDATE. So no statement waits for a row that others have
// locked, and two of them do not block each other crosswise.
//
// The time is read once, before the rows: then leases look valid a little longer than they are, and
// new ones are a little shorter. Times are microseconds since the epoch. What has become of a row
// is known by its end, which is at least that time and the time to live. A statement that comes
// late has an earlier time, so an owner's end is never moved back.
//
// Rows whose tokens will change are locked by the index `guard`, whose entry a guard locks as well;
// others by their name. Which ones these are, is read before, without a lock: derived tables with a
// LIMIT are read apart. A row that has changed in between is left alone, and counts as locked.
//
// The queue of a row is text: ["owner",until],["owner",until]. It is put together as text, and read
// by JSON_TABLE. Text that is no JSON counts as empty: a person may have written it. Derived tables
// do not carry it: MariaDB writes those that have such a column to files.
namespace holdfast::mysql_store::texts {

// Of the beginning of the command, after it was received. SYSDATE(6) has the time zone of the
// session.
inline constexpr std::string_view clock =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
inline constexpr std::string_view set_clock =
    "SET @hf_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

// Comments with an M are executed by MariaDB alone. Its version 10.11 ends with a segmentation
// fault where it pushes some conditions of these statements down into their derived tables.
inline constexpr std::string_view insert =
    "/*M! SET STATEMENT optimizer_switch = 'condition_pushdown_for_derived=off' FOR */ INSERT";

// The entries of a statement. `mark`: how its place in the queue begins.
inline constexpr std::string_view entries = R"((SELECT e.n, UNHEX(e.r) AS resource,
    CONVERT(UNHEX(e.o) USING latin1) COLLATE latin1_bin AS owner, e.ttl, e.queues,
    CONCAT('["', CONVERT(UNHEX(e.o) USING latin1) COLLATE latin1_bin, '",') AS mark
    FROM JSON_TABLE(@hf_all, '$[*]' COLUMNS (n INT PATH '$[0]', r VARCHAR(1024) PATH '$[1]',
        o VARCHAR(510) PATH '$[2]', ttl BIGINT PATH '$[3]', queues INT PATH '$[4]')) e))";

// The places in the queue of the row {x}.
inline constexpr std::string_view places = R"(JSON_TABLE(
    IF(JSON_VALID(CONCAT('[', {x}.waiters, ']')), CONCAT('[', {x}.waiters, ']'), '[]'), '$[*]'
    COLUMNS (k FOR ORDINALITY, owner VARCHAR(255) CHARACTER SET latin1 PATH '$[0]',
        until BIGINT PATH '$[1]')))";
// Of the row {x}: the first one that waits. Then of the one to which `a` would hand it over: its
// place, its end and its owner. Then how many wait before `a`, how many wait at all, and the first
// of them.
inline constexpr std::string_view first = R"(CASE WHEN {x}.waiters <> '' THEN (SELECT w.owner
    FROM {places} w WHERE w.until > @hf_now ORDER BY w.k LIMIT 1) END)";
inline constexpr std::string_view next = R"(CASE WHEN {x}.waiters <> '' THEN (
    SELECT CONCAT(w.k, ',', w.until, ',', w.owner) FROM {places} w
    WHERE w.until > @hf_now + 100000 AND w.owner <> a.owner COLLATE latin1_bin
    ORDER BY w.k LIMIT 1) END)";
inline constexpr std::string_view ahead = R"((SELECT COUNT(*) FROM {places} w
    WHERE w.until > @hf_now AND w.k < {place}))";
inline constexpr std::string_view waiting = R"(CASE WHEN {x}.waiters = '' THEN 0 ELSE
    (SELECT COUNT(*) FROM {places} w WHERE w.until > @hf_now) END)";
inline constexpr std::string_view told = R"(CASE WHEN {x}.waiters <> '' THEN (
    SELECT SUBSTRING_INDEX(GROUP_CONCAT(w.owner ORDER BY w.k SEPARATOR ' '), ' ', {told waiters})
    FROM {places} w WHERE w.until > @hf_now) END)";
// The number of the place of `a`, whose text begins at `p`.
inline constexpr std::string_view place =
    "(a.p - CHAR_LENGTH(REPLACE(LEFT(h.waiters, a.p), '[', '')))";

// The queue of a row without the place of `x`, whose text begins at `p`.
inline constexpr std::string_view without =
    R"(TRIM(TRAILING ',' FROM CONCAT(LEFT({t}.waiters, x.p - 1),
            SUBSTRING({t}.waiters, LOCATE(']', {t}.waiters, x.p) + 2))))";

// Whether the row `s` is free, and the turn of `a`.
inline constexpr std::string_view grantable =
    R"((s.owner <> a.owner AND s.expires_at <= @hf_now
        AND COALESCE({first of s}, a.owner) = a.owner COLLATE latin1_bin))";
// Whether `a` has the row `s`, and others wait.
inline constexpr std::string_view hands_over =
    "(s.owner = a.owner AND s.waiters <> '' AND {next of s} IS NOT NULL)";

inline constexpr std::string_view want = R"({insert} INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT x.resource, x.owner, x.token, x.token_end, x.expires_at, '' FROM (
    SELECT a.resource, a.owner, @hf_now - 1023 AS token, @hf_now AS token_end,
        @hf_now + a.ttl AS expires_at, 1 AS is_new, 0 AS turn, 0 AS stays, 0 AS p, a.mark,
        @hf_now + a.ttl AS until
    FROM {a} a WHERE @hf_now <= @hf_until
        AND NOT EXISTS (SELECT 1 FROM {t} s WHERE s.resource = a.resource)
    UNION ALL
    SELECT y.resource, IF(y.turn, y.owner, y.holder),
        IF(y.turn, GREATEST(y.token_end + 1, @hf_now - 1023), y.token),
        IF(y.turn, GREATEST(y.token_end + 1, @hf_now), y.token_end),
        CASE WHEN y.turn THEN @hf_now + y.ttl
            WHEN y.ours THEN GREATEST(y.expires_at, @hf_now + y.ttl) ELSE y.expires_at END,
        0, y.turn, y.turn OR y.ours, y.p, y.mark, @hf_now + y.ttl
    FROM (SELECT z.*, z.holder = z.owner AS ours,
            z.by_key AND z.holder <> z.owner AND z.expires_at <= @hf_now
                AND COALESCE(z.first_one, z.owner) = z.owner COLLATE latin1_bin AS turn
        FROM ((SELECT a.owner, a.ttl, a.queues, a.mark, h.resource, h.owner AS holder, h.token,
                h.token_end, h.expires_at, LOCATE(a.mark, h.waiters) AS p,
                {first of h} AS first_one, 1 AS by_key
            FROM (SELECT a.*, s.token, s.token_end FROM {a} a
                STRAIGHT_JOIN {t} s FORCE INDEX (PRIMARY) ON s.resource = a.resource
                WHERE @hf_now <= @hf_until AND {grantable} LIMIT 1000000) a
            STRAIGHT_JOIN {t} h FORCE INDEX (guard) ON h.resource = a.resource
                AND h.token = a.token AND h.token_end = a.token_end
            FOR UPDATE SKIP LOCKED)
            UNION ALL
            (SELECT a.owner, a.ttl, a.queues, a.mark, h.resource, h.owner, h.token,
                h.token_end, h.expires_at, LOCATE(a.mark, h.waiters), NULL, 0
            FROM (SELECT a.* FROM {a} a
                STRAIGHT_JOIN {t} s FORCE INDEX (PRIMARY) ON s.resource = a.resource
                WHERE @hf_now <= @hf_until AND (a.queues OR s.owner = a.owner)
                    AND NOT {grantable} LIMIT 1000000) a
            STRAIGHT_JOIN {t} h FORCE INDEX (PRIMARY) ON h.resource = a.resource
            FOR UPDATE SKIP LOCKED)) z) y
    WHERE y.turn OR y.ours OR y.queues) x
ON DUPLICATE KEY UPDATE owner = IF(x.is_new, {t}.owner, x.owner),
    token = IF(x.is_new, {t}.token, x.token),
    token_end = IF(x.is_new, {t}.token_end, x.token_end),
    expires_at = IF(x.is_new, {t}.expires_at, x.expires_at),
    waiters = CASE WHEN x.is_new THEN {t}.waiters
        WHEN x.turn AND x.p > 0 THEN {without}
        WHEN x.stays THEN {t}.waiters
        WHEN x.p > 0 THEN CONCAT(LEFT({t}.waiters, x.p - 1), x.mark, x.until,
            SUBSTRING({t}.waiters, LOCATE(']', {t}.waiters, x.p)))
        ELSE CONCAT({t}.waiters, IF({t}.waiters = '', '', ','), x.mark, x.until, ']') END;
)";
// What has become of them. Alone: which of those that do not enter the queue can have their turn.
inline constexpr std::string_view wanted = R"(SELECT a.n, CASE WHEN @hf_now > @hf_until THEN 't'
        WHEN h.resource IS NULL THEN 'l'
        WHEN h.owner = a.owner THEN IF(h.expires_at >= @hf_now + a.ttl, 'g', 'l')
        WHEN a.queues THEN
            IF(LOCATE(CONCAT(a.mark, @hf_now + a.ttl, ']'), h.waiters) > 0, 'q', 'l')
        WHEN h.expires_at <= @hf_now AND COALESCE({first of h}, a.owner) = a.owner
            COLLATE latin1_bin THEN 'l'
        ELSE 'r' END AS found,
    @hf_now, h.token, h.token_end, IF(a.p > 0, {ahead of h}, NULL) AS ahead,
    h.expires_at - @hf_now, NULL
FROM (SELECT a.*, LOCATE(a.mark, s.waiters) AS p FROM {a} a
    LEFT JOIN {t} s ON s.resource = a.resource LIMIT 1000000) a
    LEFT JOIN {t} h ON h.resource = a.resource)";

// The resource goes to the first whose place is good for a little longer, with the end that the
// place has. First it is noted what each owner has.
inline constexpr std::string_view give_back = R"(SELECT GROUP_CONCAT(CASE
        WHEN s.owner = a.owner THEN 'f' WHEN LOCATE(a.mark, s.waiters) > 0 THEN 'w' ELSE 'n' END
        ORDER BY a.n SEPARATOR '')
    FROM {a} a LEFT JOIN {t} s ON s.resource = a.resource INTO @hf_had;
{insert} INTO {t} (resource, owner, token, token_end, expires_at, waiters)
SELECT x.resource, x.owner, x.token, x.token_end, x.expires_at, '' FROM (
    SELECT y.resource,
        CASE WHEN NOT y.had THEN y.holder WHEN y.next_one IS NULL THEN ''
            ELSE SUBSTRING(y.next_one, CHAR_LENGTH(SUBSTRING_INDEX(y.next_one, ',', 2)) + 2) END
            AS owner,
        IF(y.moves, GREATEST(y.token_end + 1, @hf_now - 1023), y.token) AS token,
        IF(y.moves, GREATEST(y.token_end + 1, @hf_now), y.token_end) AS token_end,
        CASE WHEN NOT y.had THEN y.expires_at WHEN y.next_one IS NULL THEN 0
            ELSE SUBSTRING_INDEX(SUBSTRING_INDEX(y.next_one, ',', 2), ',', -1) END AS expires_at,
        y.had, y.p, SUBSTRING_INDEX(y.next_one, ',', 1) AS k
    FROM (SELECT z.*, z.holder = z.owner AS had,
            z.holder = z.owner AND z.next_one IS NOT NULL AS moves
        FROM ((SELECT a.owner, h.resource, h.owner AS holder, h.token, h.token_end, h.expires_at,
                LOCATE(a.mark, h.waiters) AS p, {next of h} AS next_one, 1 AS by_key
            FROM (SELECT a.*, s.token, s.token_end FROM {a} a
                STRAIGHT_JOIN {t} s FORCE INDEX (PRIMARY) ON s.resource = a.resource
                WHERE {hands over} LIMIT 1000000) a
            STRAIGHT_JOIN {t} h FORCE INDEX (guard) ON h.resource = a.resource
                AND h.token = a.token AND h.token_end = a.token_end
            FOR UPDATE SKIP LOCKED)
            UNION ALL
            (SELECT a.owner, h.resource, h.owner, h.token, h.token_end, h.expires_at,
                LOCATE(a.mark, h.waiters), {next of h}, 0
            FROM (SELECT a.* FROM {a} a
                STRAIGHT_JOIN {t} s FORCE INDEX (PRIMARY) ON s.resource = a.resource
                WHERE (s.owner = a.owner OR LOCATE(a.mark, s.waiters) > 0)
                    AND NOT {hands over} LIMIT 1000000) a
            STRAIGHT_JOIN {t} h FORCE INDEX (PRIMARY) ON h.resource = a.resource
            FOR UPDATE SKIP LOCKED)) z) y
    WHERE (y.had OR y.p > 0) AND (y.by_key OR NOT y.moves)) x
ON DUPLICATE KEY UPDATE owner = x.owner, token = x.token, token_end = x.token_end,
    expires_at = x.expires_at,
    waiters = CASE WHEN NOT x.had THEN {without} WHEN x.k IS NULL THEN ''
        ELSE SUBSTRING({t}.waiters, CHAR_LENGTH(SUBSTRING_INDEX({t}.waiters, ']', x.k)) + 3) END;
)";
// What has become of them. {more}: a column more.
inline constexpr std::string_view gave_back = R"(SELECT a.n,
    IF(h.owner = a.owner OR LOCATE(a.mark, h.waiters) > 0, 'l', SUBSTRING(@hf_had, a.n, 1))
        AS found,
    NULL{more}
FROM {a} a LEFT JOIN {t} h ON h.resource = a.resource)";

// Short statements for one entry, with its resource {r}, owner {o} and time to live {ttl}. Each
// does what is done most often, for a small part of the server's work, most of which is to plan the
// reading of queues. Any other row is found locked, and is left alone.
inline constexpr std::string_view wanted_alone = R"(SELECT 1, CASE WHEN @hf_now > @hf_until THEN 't'
    WHEN h.owner = {o} AND h.expires_at >= @hf_now + {ttl} THEN 'g' ELSE 'l' END AS found,
    @hf_now, h.token, h.token_end, NULL, NULL, NULL
FROM (SELECT 1) a LEFT JOIN {t} h ON h.resource = {r})";
// Where nobody has a place in the queue.
inline constexpr std::string_view want_alone = R"(INSERT INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT x.resource, x.owner, x.token, x.token_end, x.expires_at, '' FROM (
    SELECT {r} AS resource, {o} AS owner, @hf_now - 1023 AS token, @hf_now AS token_end,
        @hf_now + {ttl} AS expires_at, 1 AS is_new
    FROM DUAL WHERE @hf_now <= @hf_until
        AND NOT EXISTS (SELECT 1 FROM {t} s WHERE s.resource = {r})
    UNION ALL
    (SELECT h.resource, {o}, GREATEST(h.token_end + 1, @hf_now - 1023),
        GREATEST(h.token_end + 1, @hf_now), @hf_now + {ttl}, 0
    FROM (SELECT s.token, s.token_end FROM {t} s FORCE INDEX (PRIMARY)
        WHERE s.resource = {r} AND @hf_now <= @hf_until AND s.owner <> {o}
            AND s.expires_at <= @hf_now AND s.waiters = '' LIMIT 1) a
    STRAIGHT_JOIN {t} h FORCE INDEX (guard) ON h.resource = {r} AND h.token = a.token
        AND h.token_end = a.token_end
    WHERE h.owner <> {o} AND h.expires_at <= @hf_now AND h.waiters = ''
    FOR UPDATE SKIP LOCKED)) x
ON DUPLICATE KEY UPDATE owner = IF(x.is_new, {t}.owner, x.owner),
    token = IF(x.is_new, {t}.token, x.token),
    token_end = IF(x.is_new, {t}.token_end, x.token_end),
    expires_at = IF(x.is_new, {t}.expires_at, x.expires_at);
{wanted alone})";
inline constexpr std::string_view give_back_alone = R"(INSERT INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT h.resource, '', h.token, h.token_end, 0, '' FROM {t} h FORCE INDEX (PRIMARY)
WHERE h.resource = {r} AND h.owner = {o} AND h.waiters = '' FOR UPDATE SKIP LOCKED
ON DUPLICATE KEY UPDATE owner = '', expires_at = 0;
SELECT 1, IF(ROW_COUNT() > 0, 'f', 'l') AS found, NULL)";

// Where somebody has the resource: a new place, which begins with {m}.
inline constexpr std::string_view enter_queue = R"(INSERT INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT h.resource, '', 0, 0, 0, '' FROM {t} h FORCE INDEX (PRIMARY)
WHERE @hf_now <= @hf_until AND h.resource = {r} AND h.owner <> {o} AND h.expires_at > @hf_now
    AND LOCATE({m}, h.waiters) = 0
FOR UPDATE SKIP LOCKED
ON DUPLICATE KEY UPDATE waiters = CONCAT({t}.waiters, IF({t}.waiters = '', '', ','), {m},
    @hf_now + {ttl}, ']');
SELECT 1, CASE WHEN @hf_now > @hf_until THEN 't'
    WHEN h.owner <> {o} AND LOCATE(CONCAT({m}, @hf_now + {ttl}, ']'), h.waiters) > 0 THEN 'q'
    ELSE 'l' END AS found,
    @hf_now, NULL, NULL, IF(a.p > 0, {ahead of h}, NULL) AS ahead, h.expires_at - @hf_now, NULL
FROM (SELECT (SELECT LOCATE({m}, s.waiters) FROM {t} s WHERE s.resource = {r}) AS p) a
    LEFT JOIN {t} h ON h.resource = {r})";
// Where the resource was given to a waiter: with its full time to live.
inline constexpr std::string_view take_turn = R"(INSERT INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT x.resource, '', 0, 0, x.expires_at, '' FROM (
    SELECT h.resource, @hf_now + {ttl} AS expires_at FROM {t} h FORCE INDEX (PRIMARY)
    WHERE @hf_now <= @hf_until AND h.resource = {r} AND h.owner = {o}
        AND LOCATE({m}, h.waiters) = 0
    FOR UPDATE SKIP LOCKED) x
ON DUPLICATE KEY UPDATE expires_at = GREATEST({t}.expires_at, x.expires_at);
{wanted alone})";
// The first place in the queue of the row `h`, without its last bracket; and its end and its owner.
inline constexpr std::string_view front = "SUBSTRING_INDEX(h.waiters, ']', 1)";
inline constexpr std::string_view end_of_front = "SUBSTRING_INDEX({front}, ',', -1)";
inline constexpr std::string_view owner_of_front =
    "SUBSTRING_INDEX(SUBSTRING_INDEX({front}, '\"', 2), '\"', -1)";
// To the first in the queue, if its place is good for a little longer. A place of the owner itself
// has to be removed as well, which this one does not do.
inline constexpr std::string_view hand_over = R"(INSERT INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT x.resource, x.owner, x.token, x.token_end, x.expires_at, '' FROM (
    SELECT h.resource, {owner of front} AS owner,
        GREATEST(h.token_end + 1, @hf_now - 1023) AS token,
        GREATEST(h.token_end + 1, @hf_now) AS token_end, {end of front} AS expires_at,
        CHAR_LENGTH({front}) AS size
    FROM (SELECT s.token, s.token_end FROM {t} s FORCE INDEX (PRIMARY)
        WHERE s.resource = {r} AND s.owner = {o} LIMIT 1) a
    STRAIGHT_JOIN {t} h FORCE INDEX (guard) ON h.resource = {r} AND h.token = a.token
        AND h.token_end = a.token_end
    WHERE h.owner = {o} AND LOCATE({m}, h.waiters) = 0
        AND IF({front} REGEXP '^\\["[^"]+",[0-9]+$' AND CHAR_LENGTH({end of front}) < 19,
            {end of front} > @hf_now + 100000, 0)
    FOR UPDATE SKIP LOCKED) x
ON DUPLICATE KEY UPDATE owner = x.owner, token = x.token, token_end = x.token_end,
    expires_at = x.expires_at, waiters = SUBSTRING({t}.waiters, x.size + 3);
SELECT 1, IF(ROW_COUNT() > 0, 'f', 'l') AS found, NULL)";

inline constexpr std::string_view renew = R"({insert} INTO {t}
    (resource, owner, token, token_end, expires_at, waiters)
SELECT x.resource, x.owner, x.token, x.token_end, x.expires_at, '' FROM (
    SELECT h.resource, h.owner, h.token, h.token_end, @hf_now + a.ttl AS expires_at
    FROM {a} a STRAIGHT_JOIN {t} h FORCE INDEX (PRIMARY) ON h.resource = a.resource
    WHERE h.owner = a.owner AND h.expires_at > @hf_now
    FOR UPDATE SKIP LOCKED) x
ON DUPLICATE KEY UPDATE expires_at = GREATEST({t}.expires_at, x.expires_at);
SELECT a.n, CASE WHEN h.owner = a.owner AND h.expires_at >= @hf_now + a.ttl
        THEN IF({waiting of h} > 0, 'o', 'k')
    WHEN h.owner = a.owner AND h.expires_at > @hf_now THEN 'l' ELSE 'x' END AS found
FROM {a} a LEFT JOIN {t} h ON h.resource = a.resource)";

inline constexpr std::string_view watch = R"(SELECT a.n,
    CASE WHEN h.owner = a.owner AND h.expires_at > @hf_now THEN IF({waiting of h} > 0, 'o', 'k')
    ELSE 'x' END AS found
FROM {a} a LEFT JOIN {t} h ON h.resource = a.resource)";

inline constexpr std::string_view held = "(h.owner <> '' AND h.expires_at > @hf_now)";
inline constexpr std::string_view sights = R"(SELECT LOWER(HEX(h.resource)),
    IF({held}, h.owner, NULL), IF({held}, h.expires_at - @hf_now, NULL), h.token_end)";
inline constexpr std::string_view look = R"({sights}, {waiting of h} AS waiting,
    {told of h} AS told, 'f'
FROM {t} h WHERE h.resource = {resource})";
// Those that tell nothing are left out, unless they are the last one of a full page.
inline constexpr std::string_view page = R"({sights}, 0, NULL, IF(h.n = {page}, 't', 'f')
FROM (SELECT p.*, ROW_NUMBER() OVER (ORDER BY p.resource) AS n FROM (
        SELECT s.resource, s.owner, s.token_end, s.expires_at FROM {t} s FORCE INDEX (PRIMARY)
        WHERE s.resource >= {from} AND s.resource < {end} ORDER BY s.resource LIMIT {page}) p) h
WHERE {held} OR h.n = {page} ORDER BY h.resource)";

inline constexpr std::string_view facts = R"(SELECT
    IF(@@global.read_only OR @@global.innodb_read_only, 1, 0),
    IF(@@global.innodb_flush_log_at_trx_commit <> 1
        OR (@@global.log_bin AND @@global.sync_binlog <> 1), 1, 0),
    @@global.max_allowed_packet,
    (SELECT COUNT(*) FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {name}),
    COALESCE((SELECT GROUP_CONCAT(INDEX_NAME, '.', COLUMN_NAME ORDER BY INDEX_NAME, SEQ_IN_INDEX)
        FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {name}
            AND NON_UNIQUE = 0 AND SUB_PART IS NULL AND INDEX_NAME IN ('PRIMARY', 'guard')), ''),
    COALESCE((SELECT ENGINE FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {name}), ''),
    {clock})";

inline constexpr std::string_view create = R"(CREATE TABLE IF NOT EXISTS {t} (
    resource VARBINARY(512) NOT NULL PRIMARY KEY,
    owner VARCHAR(255) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL,
    token BIGINT NOT NULL,
    token_end BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    waiters MEDIUMTEXT CHARACTER SET latin1 COLLATE latin1_bin NOT NULL,
    UNIQUE KEY guard (resource, token, token_end)
) ENGINE = InnoDB)";

inline constexpr std::string_view settings = R"(SET NAMES latin1 COLLATE latin1_bin;
SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES', SESSION time_zone = '+00:00',
    SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1,
    SESSION group_concat_max_len = 1048576, SESSION sql_select_limit = DEFAULT,
    SESSION sql_safe_updates = 0, SESSION wait_timeout = 28800
    /*M!110600 , SESSION innodb_snapshot_isolation = 0 */;
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET SESSION TRANSACTION READ WRITE;
/*M! SET SESSION max_statement_time = {limit} */)";

// The entry of the index is locked, and not the row. Which entry that is, is read before without a
// lock: a search for more than one entry would lock others under REPEATABLE READ.
inline constexpr std::string_view guard =
    "SELECT 1 FROM (SELECT resource, token, token_end FROM {t} WHERE resource = UNHEX(?)"
    " AND token <= ? AND token_end >= ? LIMIT 1) s STRAIGHT_JOIN {t} g FORCE INDEX (guard)"
    " ON g.resource = s.resource AND g.token = s.token AND g.token_end = s.token_end"
    " LOCK IN SHARE MODE";

} // namespace holdfast::mysql_store::texts
