/** Sums all movements of a project, and finds the movements of one counterparty or asset. */
import { flowOf, OPERATION_KINDS } from "@/lib/core/movement-kinds";
import { fundingRows, type FundingFilter } from "@/lib/books/ledger/service";
import { pricedPayment } from "@/lib/trust/policies/service";
import type { SqlReader } from "@/lib/platform/db/sql";
import { join, raw, sql, type Statement } from "@/lib/platform/db/statement";
import {
  count,
  decimal,
  nullable,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

/** The movements that a caller may read and that match the filters of the list. */
export interface Selection {
  readonly projectId: string;
  /** Condition on an operation `o`; null when no operations are selected. */
  readonly operations: Statement | null;
  /** Condition on a payout `p` and its `wallet_payout` `w`; null when no payouts are selected. */
  readonly payouts: Statement | null;
  readonly fundings: FundingFilter | null;
  /** A lower-case address, the id of an account or private wallet, `several` or `none`. */
  readonly party: string | undefined;
  readonly assetId: string | undefined;
}

export type Grouping = "counterparty" | "token" | "tag" | "month";

/** Stands for a counterparty that is not known, or that a movement does not have. */
export const NO_PARTY = "none";
/** Stands for the recipients of a payout with several rows. */
export const SEVERAL_PARTIES = "several";

const INFLOWS = OPERATION_KINDS.filter((kind) => flowOf(kind, false) === "in");
/**
 * Kinds of movements that take money out of the project. Payouts to accounts, fundings and their
 * reversals take none out.
 */
const OUTFLOWS = [
  ...OPERATION_KINDS.filter((kind) => flowOf(kind, false) === "out"),
  "payout_to_wallets",
];

const ids = table({ id: text });
const groups = table({
  key: nullable(text),
  name: nullable(text),
  count,
  unpriced: count,
  inCount: count,
  inUsd: nullable(decimal),
  inAmount: nullable(decimal),
  outCount: count,
  outUsd: nullable(decimal),
  outAmount: nullable(decimal),
  startsAt: nullable(time),
  endsAt: nullable(time),
  groups: count,
});

export type SummaryGroup = RowOf<typeof groups>;

// SQL: one row for each movement. `sources` is a list of {token, amountBase}, the form in which
// requests and the totals of payouts are stored. Movements that stay in accounts have no sources,
// because their amounts are not summed.

const operationRows = (condition: Statement): Statement => sql`
  SELECT
    o.id,
    o.kind,
    o.created_at,
    CASE
      WHEN o.kind = 'deposit'
        THEN coalesce(lower(o.request->'sources'->0->>'owner'), ${NO_PARTY}::text)
      WHEN t.kind = 'shield' THEN t.wallet_id
      ELSE coalesce(t.to_wallet_id, lower(o.request->'destination'->>'recipient'))
    END AS party,
    CASE
      WHEN o.kind = 'deposit' THEN jsonb_build_array(
        jsonb_build_object(
          'token', o.request->'destination'->'token',
          'amountBase', o.minimum_base::text
        )
      )
      ELSE o.request->'sources'
    END AS sources,
    o.status IN ('completed', 'partially_completed') AND o.sub_status = 'partial' AS is_partial,
    (o.quoted->>'spentBase')::numeric AS spent_base,
    o.evaluation_id,
    CASE
      WHEN d.state IN ('credited', 'released') THEN d.usd_micro * 0.000001
    END AS deposit_usd
  FROM operation o
  LEFT JOIN privacy_transfer t ON t.project_id = o.project_id AND t.operation_id = o.id
  LEFT JOIN deposit d
    ON o.kind = 'deposit' AND d.project_id = o.project_id AND d.id = o.id
  WHERE ${condition}`;

const payoutRows = (condition: Statement): Statement => sql`
  SELECT
    p.id,
    CASE p.kind WHEN 'wallets' THEN 'payout_to_wallets' ELSE 'payout_to_accounts' END AS kind,
    p.created_at,
    CASE
      WHEN p.items_total <> 1 THEN ${SEVERAL_PARTIES}::text
      WHEN p.kind = 'wallets' THEN (
        SELECT lower(i.recipient) FROM wallet_payout_item i
        WHERE i.project_id = p.project_id AND i.payout_id = p.id AND i.index = 0
      )
      ELSE (
        SELECT r.rows->0->>0 FROM payout_rows r
        WHERE r.project_id = p.project_id AND r.payout_id = p.id AND r.first_index = 0
      )
    END AS party,
    coalesce(
      w.totals,
      jsonb_build_array(
        jsonb_build_object('token', jsonb_build_object('assetId', p.currency))
      )
    ) AS sources,
    p.status = 'partially_completed' AS is_partial,
    NULL::numeric AS spent_base,
    p.evaluation_id,
    NULL::numeric AS deposit_usd
  FROM payout p
  LEFT JOIN wallet_payout w ON w.project_id = p.project_id AND w.payout_id = p.id
  WHERE ${condition}`;

const fundingsOf = (projectId: string, filter: FundingFilter): Statement => sql`
  SELECT
    'ltx_' || t.id AS id,
    CASE t.kind WHEN 'fund' THEN 'funding' ELSE 'funding_reversal' END AS kind,
    t.created_at,
    CASE t.kind WHEN 'fund' THEN 'ga_' || a.id ELSE ${NO_PARTY}::text END AS party,
    jsonb_build_array(
      jsonb_build_object('token', jsonb_build_object('assetId', e.currency))
    ) AS sources,
    false AS is_partial,
    NULL::numeric AS spent_base,
    NULL::text AS evaluation_id,
    NULL::numeric AS deposit_usd
  ${fundingRows(projectId, filter)}`;

/** SQL: the selected movements, one row each; null when nothing is selected. */
const movementRows = (selection: Selection): Statement | null => {
  const { projectId, operations, payouts, fundings, party, assetId } = selection;
  const lists = [
    ...(operations === null ? [] : [operationRows(operations)]),
    ...(payouts === null ? [] : [payoutRows(payouts)]),
    ...(fundings === null ? [] : [fundingsOf(projectId, fundings)]),
  ];
  if (lists.length === 0) return null;
  const conditions = [
    ...(party === undefined ? [] : [sql`m.party = ${party}`]),
    ...(assetId === undefined
      ? []
      : [
          sql`m.sources @> jsonb_build_array(
            jsonb_build_object('token', jsonb_build_object('assetId', ${assetId}::text))
          )`,
        ]),
  ];
  return sql`
    SELECT m.* FROM (${join(lists, " UNION ALL ")}) AS m
    WHERE ${conditions.length === 0 ? sql`true` : join(conditions, " AND ")}`;
};

/**
 * SQL: the part of a source that moved, in base units. It is smaller than the requested amount
 * only for a movement that completed in part.
 */
const movedBase = (projectId: string): Statement => sql`
  CASE
    WHEN NOT m.is_partial THEN source.base
    WHEN m.kind = 'payout_to_wallets' THEN (
      SELECT coalesce(sum(b.amount_base), 0) FROM wallet_payout_batch b
      WHERE b.project_id = ${projectId}
        AND b.payout_id = m.id
        AND b.state = 'paid'
        AND b.token = lower(source.token->>'address')
    )
    ELSE (
      SELECT
        CASE
          WHEN count(*) = 0 THEN least(source.base, coalesce(m.spent_base, source.base))
          ELSE coalesce(sum(l.amount_base) FILTER (WHERE l.state = 'completed'), 0)
        END
      FROM operation_leg l
      WHERE l.project_id = ${projectId}
        AND l.operation_id = m.id
        AND (l.route_leg->>'sourceIndex')::int = source.place - 1
    )
  END`;

/**
 * SQL: base units as a decimal number. It is read from a text with an exponent, which is exact,
 * because a division would round.
 */
const decimalOf = (base: string): Statement =>
  raw(`(${base}::text || 'e-' || (source.token->>'decimals'))::numeric`);

/**
 * SQL: for each asset of the movement `m`, the amount that was sent and the amount that moved. The
 * worth of dollar tokens is rounded down, as `peggedWorth` does.
 */
const assetsOf = (projectId: string): Statement => sql`
  (
    SELECT
      moving.token->>'assetId' AS asset,
      max(moving.token->>'symbol') AS symbol,
      sum(moving.sent) AS sent,
      sum(moving.moved) AS moved,
      sum(trunc(moving.sent, 6)) AS pegged_usd,
      bool_and(
        bool_and(coalesce((moving.token->>'usdPegged')::boolean, false))
      ) OVER () AS is_pegged,
      count(*) OVER () AS assets
    FROM (
      SELECT
        source.token,
        ${decimalOf("source.base")} AS sent,
        ${decimalOf("source.moved_base")} AS moved
      FROM (
        SELECT source.*, ${movedBase(projectId)} AS moved_base
        FROM (
          SELECT
            one.item->'token' AS token,
            (one.item->>'amountBase')::numeric AS base,
            one.place
          FROM jsonb_array_elements(m.sources) WITH ORDINALITY AS one (item, place)
        ) AS source
      ) AS source
    ) AS moving
    GROUP BY moving.token->>'assetId'
  )`;

/** SQL: the worth of the sent amount of an asset, by the rules of `worthOfMovement`. */
const WORTH = raw(`
  CASE
    WHEN m.kind = 'deposit' THEN m.deposit_usd
    WHEN priced.worth IS NULL THEN CASE WHEN sent.is_pegged THEN sent.pegged_usd END
    WHEN sent.assets = 1 THEN priced.worth
    ELSE (
      SELECT sum((part->>'usd')::numeric)
      FROM jsonb_array_elements(priced.movements) AS part
      WHERE part->>'asset' = sent.asset
    )
  END`);

/** SQL: one row for each asset of each movement, with its direction and worth. */
const partRows = (projectId: string, movements: Statement): Statement => sql`
  WITH own AS MATERIALIZED (
    SELECT lower(address) AS address, unlinked_at FROM wallet WHERE project_id = ${projectId}
  ),
  moved AS (
    SELECT
      m.*,
      CASE
        WHEN m.kind = ANY (${INFLOWS}::text[]) THEN 'in'
        WHEN m.kind = ANY (${OUTFLOWS}::text[])
          AND own.address IS NULL
          AND NOT coalesce(starts_with(m.party, 'pw_'), false)
          THEN 'out'
      END AS direction
    FROM (${movements}) AS m
    LEFT JOIN own
      ON own.address = m.party
      AND (own.unlinked_at IS NULL OR own.unlinked_at > m.created_at)
  ),
  part AS (
    SELECT
      m.id,
      m.created_at,
      m.party,
      m.direction,
      sent.asset,
      sent.symbol,
      sent.moved AS amount,
      CASE
        WHEN sent.moved = sent.sent THEN ${WORTH}
        ELSE div(${WORTH} * 1000000 * sent.moved, nullif(sent.sent, 0)) * 0.000001
      END AS usd
    FROM moved m
    LEFT JOIN policy_evaluation e
      ON e.project_id = ${projectId} AND e.id = m.evaluation_id AND m.direction IS NOT NULL
    LEFT JOIN LATERAL ${pricedPayment("e")} AS priced ON true
    LEFT JOIN LATERAL ${assetsOf(projectId)} AS sent ON true
  )`;

interface Keys {
  readonly key: Statement;
  readonly name: Statement;
  readonly joined: Statement;
  readonly order: Statement;
}

const BY_SIZE = raw("coalesce(in_usd, 0) + coalesce(out_usd, 0) DESC, count DESC, key");

const tagsOf = (projectId: string): Statement => sql`
  LEFT JOIN annotation a
    ON a.project_id = ${projectId}
    AND a.subject_id = part.id
    AND a.subject_type = CASE WHEN starts_with(part.id, 'po_') THEN 'payout' ELSE 'operation' END
  LEFT JOIN LATERAL (
    SELECT lower(one.name) AS tag, min(one.name) AS name
    FROM unnest(a.tags) AS one (name)
    GROUP BY lower(one.name)
  ) AS tagged ON true`;

const keysOf = (projectId: string, by: Grouping, timeZone: string): Keys => {
  const [none, size] = [{ name: raw("NULL::text"), joined: raw("") }, { order: BY_SIZE }];
  switch (by) {
    case "counterparty":
      return { ...none, ...size, key: raw("part.party") };
    case "token":
      return { ...none, ...size, key: raw("part.asset"), name: raw("part.symbol") };
    case "tag":
      return {
        ...size,
        key: raw("tagged.tag"),
        name: raw("tagged.name"),
        joined: tagsOf(projectId),
      };
    case "month":
      return {
        ...none,
        key: sql`to_char(part.created_at AT TIME ZONE ${timeZone}::text, 'YYYY-MM')`,
        order: raw("key DESC"),
      };
  }
};

interface Sums {
  readonly by: Grouping;
  /** IANA name of the time zone in which months begin. */
  readonly timeZone: string;
  readonly limit: number;
}

/** SQL: the time at which the group's month begins, plus the interval `later`. */
const monthAt = (timeZone: string, later: string): Statement => sql`
  (
    date_trunc('month', min(grouped_at) AT TIME ZONE ${timeZone}::text) + ${later}::interval
  ) AT TIME ZONE ${timeZone}::text`;

const sumsOf = (projectId: string, movements: Statement, sums: Sums): Statement => {
  const { by, timeZone, limit } = sums;
  const { key, name, joined, order } = keysOf(projectId, by, timeZone);
  return sql`
    ${partRows(projectId, movements)},
    keyed AS (
      SELECT
        ${key} AS key,
        ${name} AS name,
        part.id,
        part.created_at AS grouped_at,
        part.direction,
        part.amount,
        part.usd
      FROM part
      ${joined}
    ),
    grouped AS (
      SELECT
        key,
        min(name) AS name,
        count(DISTINCT id) AS count,
        count(DISTINCT id) FILTER (WHERE direction IS NOT NULL AND usd IS NULL) AS unpriced,
        count(*) FILTER (WHERE direction = 'in') AS in_count,
        trim_scale(sum(usd) FILTER (WHERE direction = 'in')) AS in_usd,
        trim_scale(sum(amount) FILTER (WHERE direction = 'in')) AS in_amount,
        count(*) FILTER (WHERE direction = 'out') AS out_count,
        trim_scale(sum(usd) FILTER (WHERE direction = 'out')) AS out_usd,
        trim_scale(sum(amount) FILTER (WHERE direction = 'out')) AS out_amount,
        ${monthAt(timeZone, "0")} AS starts_at,
        ${monthAt(timeZone, "1 month")} AS ends_at
      FROM keyed
      GROUP BY key
    )
    SELECT ${groups.columns()}
    FROM (SELECT *, count(*) OVER () AS groups FROM grouped) AS counted
    ORDER BY ${order}
    LIMIT ${limit}::int`;
};

export const createActivityRepository = (db: SqlReader) => ({
  /** The sums of each group: months newest first, other groups by the money that they moved. */
  sums: async (selection: Selection, sums: Sums): Promise<SummaryGroup[]> => {
    const movements = movementRows(selection);
    if (movements === null) return [];
    return groups.all(db, sumsOf(selection.projectId, movements, sums));
  },

  /**
   * Ids of selected movements, newest first.
   * @param before UUID of the page cursor
   */
  ids: async (
    selection: Selection,
    { before, limit }: { readonly before: string | undefined; readonly limit: number },
  ): Promise<string[]> => {
    const movements = movementRows(selection);
    if (movements === null) return [];
    const found = await ids.all(
      db,
      sql`
        SELECT found.id
        FROM (${movements}) AS found
        WHERE ${before ?? null}::text IS NULL OR split_part(found.id, '_', 2) < ${before ?? null}
        ORDER BY split_part(found.id, '_', 2) DESC
        LIMIT ${limit}::int`,
    );
    return found.map(({ id }) => id);
  },
});

export type ActivityRepository = ReturnType<typeof createActivityRepository>;
