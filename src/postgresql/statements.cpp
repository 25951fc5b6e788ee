#include "postgresql/statements.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace holdfast::postgresql_store {

namespace {

// {t}: the table. {now}: the time in microseconds since the epoch. {first of h}, {ahead of h for
// r}: who is the first that waits for the row h, and how many wait before the owner of r or f.
// {lock}: of the rows. Rows are locked in the order of their names, so that statements do not block
// each other crosswise. The lock is that of an update that changes no key, which a guard does not
// block; a grant changes a key, which it does. The first waiter tells a holder that wishes it. What
// is found is put together by grouping (r), because a join of two lists would take quadratic time.
// OFFSET 0: a row that was found is not looked up again.
constexpr std::string_view want_text = R"(WITH d AS MATERIALIZED (
    SELECT c.us, c.us <= $5::bigint AS in_time FROM (SELECT {now} AS us) c),
a AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::text[], $3::bigint[], $4::boolean[])
    WITH ORDINALITY AS a(resource, owner, ttl, queues, n)),
f AS MATERIALIZED (
    SELECT a.n, a.owner, a.ttl, a.queues, h.resource FROM a JOIN {t} h ON h.resource = a.resource
    WHERE (SELECT in_time FROM d) AND (h.owner = a.owner OR a.queues
        OR (h.expires_at <= clock_timestamp() AND a.owner = coalesce({first of h}, a.owner)))
    ORDER BY h.resource {lock}),
u AS (
    UPDATE {t} h SET (owner, token, token_end, expires_at, waiters, waiters_until) = (
        SELECT CASE WHEN w.ours OR w.turn THEN f.owner ELSE h.owner END,
            CASE WHEN w.turn THEN greatest(h.token_end + 1, w.us - 1023) ELSE h.token END,
            CASE WHEN w.turn THEN greatest(h.token_end + 1, w.us) ELSE h.token_end END,
            CASE WHEN w.ours OR w.turn THEN w.until ELSE h.expires_at END,
            CASE WHEN w.turn THEN array_remove(h.waiters, f.owner)
                WHEN w.ours OR w.p IS NOT NULL OR NOT f.queues THEN h.waiters
                ELSE h.waiters || f.owner END,
            CASE WHEN w.ours OR (w.p IS NULL AND (w.turn OR NOT f.queues)) THEN h.waiters_until
                WHEN w.turn THEN h.waiters_until[:w.p - 1] || h.waiters_until[w.p + 1:]
                WHEN w.p IS NULL THEN h.waiters_until || w.until
                WHEN NOT f.queues THEN h.waiters_until
                ELSE h.waiters_until[:w.p - 1] || w.until || h.waiters_until[w.p + 1:] END
        FROM (SELECT h.owner = f.owner AS ours, array_position(h.waiters, f.owner) AS p,
            h.owner <> f.owner AND h.expires_at <= clock_timestamp()
                AND f.owner = coalesce({first of h}, f.owner) AS turn,
            clock_timestamp() + f.ttl * interval '1 microsecond' AS until, {now} AS us) w)
    FROM f WHERE h.resource = f.resource
    RETURNING h.resource, h.owner = f.owner AS granted, h.owner AS holder, h.token, h.token_end,
        h.expires_at, {ahead of h for f} AS ahead),
i AS (
    INSERT INTO {t} AS h (resource, owner, token, token_end, expires_at)
    SELECT a.resource, a.owner, d.us - 1023, d.us,
        clock_timestamp() + a.ttl * interval '1 microsecond'
    FROM a CROSS JOIN d WHERE d.in_time AND (SELECT count(*) FROM u) < (SELECT count(*) FROM a)
        AND NOT EXISTS (SELECT 1 FROM {t} s WHERE s.resource = a.resource)
    ORDER BY a.resource ON CONFLICT (resource) DO NOTHING
    RETURNING h.resource, h.token, h.token_end),
r AS (
    SELECT resource, max(n) AS n, max(owner) AS owner, bool_or(queues) AS queues,
        bool_or(granted) AS granted, max(holder) AS holder, max(token) AS token,
        max(token_end) AS token_end, max(expires_at) AS expires_at, max(ahead) AS ahead
    FROM (SELECT resource, n, owner, queues, NULL::boolean AS granted, NULL::text AS holder,
            NULL::bigint AS token, NULL::bigint AS token_end, NULL::timestamptz AS expires_at,
            NULL::bigint AS ahead FROM a
        UNION ALL SELECT resource, NULL, NULL, NULL, granted, holder, token, token_end,
            expires_at, ahead FROM u
        UNION ALL SELECT resource, NULL, NULL, NULL, true, NULL, token, token_end, NULL, NULL
            FROM i) s
    GROUP BY resource)
SELECT r.n, CASE WHEN r.granted THEN 'g'
        WHEN r.granted IS NOT NULL THEN CASE WHEN r.queues THEN 'q' ELSE 'r' END
        WHEN NOT d.in_time THEN 't'
        WHEN h.resource IS NOT NULL AND NOT r.queues AND h.owner <> r.owner
            AND NOT (h.expires_at <= clock_timestamp()
                AND r.owner = coalesce({first of h}, r.owner)) THEN 'r'
        ELSE 'l' END,
    d.us, r.token, r.token_end,
    CASE WHEN r.granted IS NULL THEN {ahead of h for r} ELSE r.ahead END,
    (extract(epoch FROM coalesce(r.expires_at, h.expires_at) - clock_timestamp())
        * 1000000)::bigint,
    CASE WHEN r.queues AND r.ahead = 0 AND NOT r.granted AND right(r.holder, 2) = '{watching}'
        THEN pg_notify(split_part(r.holder, '@', 2), r.holder)::text END
FROM r CROSS JOIN d LEFT JOIN LATERAL (
    SELECT * FROM {t} s WHERE s.resource = r.resource AND r.granted IS NULL OFFSET 0) h ON true)";

// The resource goes to the first whose place is good for a little longer, with the end that the
// place has. A waiter whose name has an address is told. {told}: a column more.
constexpr std::string_view give_back_text = R"(WITH a AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS a(resource, owner, n)),
f AS MATERIALIZED (
    SELECT a.n, a.owner, h.resource, h.owner = a.owner AS had
    FROM a JOIN {t} h ON h.resource = a.resource
    WHERE h.owner = a.owner OR a.owner = ANY (h.waiters)
    ORDER BY h.resource {lock}),
u AS (
    UPDATE {t} h SET (owner, token, token_end, expires_at, waiters, waiters_until) = (
        SELECT CASE WHEN w.had THEN coalesce(x.owner, '') ELSE h.owner END,
            CASE WHEN x.k IS NULL THEN h.token ELSE greatest(h.token_end + 1, w.us - 1023) END,
            CASE WHEN x.k IS NULL THEN h.token_end ELSE greatest(h.token_end + 1, w.us) END,
            CASE WHEN w.had THEN coalesce(x.until, 'epoch') ELSE h.expires_at END,
            CASE WHEN NOT w.had THEN array_remove(h.waiters, f.owner)
                WHEN x.k IS NULL THEN '{}' ELSE h.waiters[x.k + 1:] END,
            CASE WHEN NOT w.had THEN h.waiters_until[:w.p - 1] || h.waiters_until[w.p + 1:]
                WHEN x.k IS NULL THEN '{}' ELSE h.waiters_until[x.k + 1:] END
        FROM (SELECT h.owner = f.owner AS had, array_position(h.waiters, f.owner) AS p,
                {now} AS us) w
            LEFT JOIN LATERAL (SELECT q.owner, q.until, q.k::int AS k
                FROM unnest(h.waiters, h.waiters_until) WITH ORDINALITY AS q(owner, until, k)
                WHERE w.had AND h.waiters <> '{}' AND q.owner <> f.owner
                    AND q.until > clock_timestamp() + interval '100 milliseconds'
                ORDER BY q.k LIMIT 1) x ON true)
    FROM f WHERE h.resource = f.resource
    RETURNING h.resource, f.had, h.owner AS next, h.token, h.token_end),
r AS (
    SELECT resource, max(n) AS n, max(owner) AS owner, bool_or(had) AS had, max(next) AS next,
        max(token) AS token, max(token_end) AS token_end
    FROM (SELECT resource, n, owner, NULL::boolean AS had, NULL::text AS next,
            NULL::bigint AS token, NULL::bigint AS token_end FROM a
        UNION ALL SELECT resource, NULL, NULL, had, next, token, token_end FROM u) s
    GROUP BY resource)
SELECT r.n, CASE WHEN r.had THEN 'f' WHEN r.had IS NOT NULL THEN 'w'
        WHEN h.resource IS NULL OR NOT (h.owner = r.owner OR r.owner = ANY (h.waiters)) THEN 'n'
        ELSE 'l' END,
    CASE WHEN r.had AND strpos(r.next, '@') > 0
        THEN pg_notify(split_part(r.next, '@', 2),
            r.next || ' ' || r.token || ' ' || r.token_end)::text END{told}
FROM r LEFT JOIN LATERAL (
    SELECT * FROM {t} s WHERE s.resource = r.resource AND r.had IS NULL OFFSET 0) h ON true)";

constexpr std::string_view renew_text = R"(WITH a AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::text[], $3::bigint[])
    WITH ORDINALITY AS a(resource, owner, ttl, n)),
f AS MATERIALIZED (
    SELECT a.n, a.ttl, h.resource FROM a JOIN {t} h ON h.resource = a.resource
    WHERE h.owner = a.owner AND h.expires_at > clock_timestamp()
    ORDER BY h.resource {lock}),
u AS (
    UPDATE {t} h SET expires_at = clock_timestamp() + f.ttl * interval '1 microsecond'
    FROM f WHERE h.resource = f.resource RETURNING h.resource, EXISTS (
        SELECT 1 FROM unnest(h.waiters_until) AS q(until) WHERE q.until > clock_timestamp())
        AS others_wait),
r AS (
    SELECT resource, max(n) AS n, max(owner) AS owner, bool_or(others_wait) AS others_wait
    FROM (SELECT resource, n, owner, NULL::boolean AS others_wait FROM a
        UNION ALL SELECT resource, NULL, NULL, others_wait FROM u) s
    GROUP BY resource)
SELECT r.n, CASE WHEN r.others_wait THEN 'o' WHEN r.others_wait IS NOT NULL THEN 'k'
    WHEN h.owner = r.owner AND h.expires_at > clock_timestamp() THEN 'l' ELSE 'x' END
FROM r LEFT JOIN LATERAL (
    SELECT * FROM {t} s WHERE s.resource = r.resource AND r.others_wait IS NULL OFFSET 0) h
    ON true)";

constexpr std::string_view watch_text = R"(WITH a AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS a(resource, owner, n))
SELECT a.n, CASE WHEN h.resource IS NULL THEN 'x' WHEN EXISTS (
        SELECT 1 FROM unnest(h.waiters_until) AS q(until) WHERE q.until > clock_timestamp())
    THEN 'o' ELSE 'k' END
FROM a LEFT JOIN {t} h ON h.resource = a.resource AND h.owner = a.owner
    AND h.expires_at > clock_timestamp())";

// An owner from whom a resource is taken is told that, and whom to answer.
constexpr std::string_view told_text = R"(,
    CASE WHEN r.had AND strpos(r.owner, '@') > 0
        THEN pg_notify(split_part(r.owner, '@', 2), r.owner || ' taken ' || $3::text)::text END)";

constexpr std::string_view tell_text = "SELECT pg_notify($1::text, $2::text || ' told')::text";

// {rows}: of the table, with their number in the page. Those that tell nothing are left out, unless
// they are the last one of a full page.
constexpr std::string_view sights_text = R"(SELECT encode(h.resource, 'hex'),
    CASE WHEN {held} THEN h.owner END,
    CASE WHEN {held} THEN (extract(epoch FROM least(h.expires_at, clock_timestamp()
        + interval '100 years') - clock_timestamp()) * 1000000)::bigint END,
    h.token_end, {waiters}, h.n = {page}
FROM ({rows}) h {where} ORDER BY h.resource)";
constexpr std::string_view held = "h.owner <> '' AND h.expires_at > clock_timestamp()";
constexpr std::string_view waiters_of_h =
    R"((SELECT count(*) FROM unnest(h.waiters_until) AS q(until)
        WHERE q.until > clock_timestamp()),
    (SELECT string_agg(w.owner, ' ' ORDER BY w.k) FROM (
        SELECT q.owner, q.k
        FROM unnest(h.waiters, h.waiters_until) WITH ORDINALITY AS q(owner, until, k)
        WHERE q.until > clock_timestamp() ORDER BY q.k LIMIT {told waiters}) w))";
constexpr std::string_view one_row = "SELECT s.*, 0 AS n FROM {t} s WHERE s.resource = $1::bytea";
// Bytes have an order without a locale, which is that of the index.
constexpr std::string_view page_of_rows =
    R"(SELECT p.*, row_number() OVER (ORDER BY p.resource) AS n
    FROM (SELECT s.resource, s.owner, s.expires_at, s.token_end FROM {t} s
        WHERE s.resource >= $1::bytea AND s.resource < $2::bytea
        ORDER BY s.resource LIMIT {page}) p)";

// to_regclass() knows a table that was made after the query began; its indexes are not there yet.
constexpr std::string_view facts_text = R"(SELECT pg_backend_pid(),
    current_setting('transaction_read_only') = 'on', current_setting('synchronous_commit') = 'off',
    EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass($1::text)),
    EXISTS (SELECT 1 FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a
        ON a.attrelid = i.indrelid
            AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) -- not INCLUDE
        WHERE i.indrelid = to_regclass($1::text) AND a.attname = 'token_end' AND i.indisunique
            AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL),
    {now})";

// An active process is past the limit of statements only if its commit waits for a standby.
constexpr std::string_view processes_text =
    R"(SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint,
    CASE WHEN pid = pg_backend_pid() THEN true ELSE pg_terminate_backend(pid) END
    FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid() OR (state = 'active'
        AND pid = ANY ($1::int[]) AND usename = session_user
        AND (extract(epoch FROM backend_start) * 1000000)::bigint = ANY ($2::bigint[])
        AND query_start < clock_timestamp() - $3::bigint * interval '1 millisecond'))";

// Half of each page is left free, so that new versions of rows stay near.
constexpr std::string_view create_text = R"(CREATE TABLE IF NOT EXISTS {t} (
    resource bytea PRIMARY KEY,
    owner text NOT NULL,
    token bigint NOT NULL,
    token_end bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    waiters text[] NOT NULL DEFAULT '{}',
    waiters_until timestamptz[] NOT NULL DEFAULT '{}',
    UNIQUE (resource, token_end)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0))";

constexpr std::string_view now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
constexpr std::string_view first_of_h =
    "CASE WHEN h.waiters <> '{}' THEN (SELECT q.owner"
    " FROM unnest(h.waiters, h.waiters_until) WITH ORDINALITY AS q(owner, until, k)"
    " WHERE q.until > clock_timestamp() ORDER BY q.k LIMIT 1) END";
constexpr std::string_view ahead_of_h =
    "CASE WHEN {x}.owner = ANY (h.waiters) THEN (SELECT count(*)"
    " FROM unnest(h.waiters, h.waiters_until) WITH ORDINALITY AS q(owner, until, k)"
    " WHERE q.until > clock_timestamp() AND q.k < array_position(h.waiters, {x}.owner)) END";

void put(std::string& into, std::string_view name, std::string_view value)
{
    for (auto at = into.find(name); at != into.npos; at = into.find(name, at + value.size()))
        into.replace(at, name.size(), value);
}

std::string with(std::string_view text, const std::string& table, std::string_view lock,
    std::string_view told = {})
{
    const auto for_one = [](std::string_view name) {
        std::string ahead(ahead_of_h);
        put(ahead, "{x}", name);
        return ahead;
    };
    std::string made(text);
    put(made, "{first of h}", first_of_h);
    put(made, "{ahead of h for r}", for_one("r"));
    put(made, "{ahead of h for f}", for_one("f"));
    put(made, "{now}", now);
    put(made, "{watching}", sql::watching);
    put(made, "{lock}", lock);
    put(made, "{told}", told);
    put(made, "{t}", table);
    return made;
}

// `rows` that are all shown, or only those that tell something.
std::string sights(
    std::string_view rows, std::string_view waiters, bool all, const std::string& table)
{
    std::string made(sights_text);
    put(made, "{rows}", rows);
    put(made, "{waiters}", waiters);
    put(made, "{where}", all ? "" : "WHERE ({held}) OR h.n = {page}");
    put(made, "{held}", held);
    put(made, "{page}", std::to_string(sql::most_in_page));
    put(made, "{told waiters}", std::to_string(sql::most_waiters_told));
    put(made, "{t}", table);
    return made;
}

} // namespace

statements::statements(const std::string& table)
    : facts_(with(facts_text, table, {})),
      processes_(processes_text),
      create_(with(create_text, table, {}))
{
    constexpr std::string_view waiting = "FOR NO KEY UPDATE OF h";
    constexpr std::string_view passing = "FOR UPDATE OF h SKIP LOCKED";
    constexpr std::string_view passing_renewal = "FOR NO KEY UPDATE OF h SKIP LOCKED";
    const auto set = [&](sql::action what, std::string_view text, std::string_view without) {
        auto& both = texts_[static_cast<std::size_t>(what)];
        both[0] = with(text, table, without);
        both[1] = with(text, table, waiting);
    };
    set(sql::action::give_back, give_back_text, passing);
    set(sql::action::renew, renew_text, passing_renewal);
    set(sql::action::want, want_text, passing);
    set(sql::action::watch, watch_text, {});

    using kind = sql::question::kind;
    for (const bool waits : {false, true}) {
        const auto ask = [&](kind what, std::string text) {
            questions_[static_cast<std::size_t>(what)][waits ? 1 : 0] = std::move(text);
        };
        ask(kind::look, sights(one_row, waiters_of_h, true, table));
        ask(kind::page, sights(page_of_rows, "0, NULL::text", false, table));
        ask(kind::take, with(give_back_text, table, waits ? waiting : passing, told_text));
        ask(kind::tell, std::string(tell_text));
    }
}

} // namespace holdfast::postgresql_store
