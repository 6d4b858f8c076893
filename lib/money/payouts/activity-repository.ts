/**
 * Reads payouts of both kinds for the list of all movements of money, with the filters of that
 * list.
 */
import type { Database } from "@/lib/platform/db/client";
import { sqlOn, type SqlReader } from "@/lib/platform/db/sql";
import { join, sql, type Statement } from "@/lib/platform/db/statement";
import { table, text } from "@/lib/platform/db/table";
import { firstIdAt } from "@/lib/core/ids";
import { hasNote, hasTag, patternOf } from "@/lib/money/annotations/service";
import type { Status } from "@/lib/core/status";
import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress } from "@/lib/platform/db/codecs";
import { parsePayout, type Payout } from "./payout";

export interface PayoutActivityFilter {
  /** Only payouts with these ids. */
  readonly ids?: readonly string[] | undefined;
  readonly status?: readonly Status[] | undefined;
  readonly kind?: readonly Payout["kind"][] | undefined;
  /**
   * Payouts on any of these chains. Payouts between accounts are on no chain, so the filter
   * excludes them.
   */
  readonly chainId?: readonly number[] | undefined;
  readonly walletId?: readonly string[] | undefined;
  /** The earliest time of creation, inclusive, as RFC 3339 text. */
  readonly from?: string | undefined;
  /** The end of the time of creation, exclusive, as RFC 3339 text. */
  readonly to?: string | undefined;
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
}

interface PayoutsMatched {
  readonly projectId: string;
  readonly filter: PayoutActivityFilter;
  /** Ids of the assets whose symbol equals the searched text `q`. */
  readonly searchedAssets: readonly string[];
}

export interface PayoutActivityQuery extends PayoutsMatched {
  /** Only payouts with a smaller id, which are older. Undefined: the first page. */
  readonly before: string | undefined;
  readonly limit: number;
}

export type SoleRecipient =
  | { readonly type: "address"; readonly address: EvmAddress }
  | { readonly type: "account"; readonly accountId: string };

const ROWS_SEARCHED = 100_000;
/**
 * Milliseconds by which the range of ids for a filter on time is wider than the filter. The time in
 * an id comes from the clock of the process that created the id, and `created_at` comes from the
 * clock of the database. The two clocks may differ by this margin.
 */
const SKEW_MS = 3_600_000;

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

const ids = table({ id: text });
const soleRecipients = table({ id: text, recipient: text });

const idBound = (time: string, skewMs: number): string =>
  firstIdAt("payout", new Date(Math.max(0, Date.parse(time) + skewMs)));

/** SQL: whether the payout `p` has an annotation `a` for which the condition is true. */
const isAnnotated = (projectId: string, condition: Statement): Statement => sql`
  EXISTS (
    SELECT 1 FROM annotation a
    WHERE a.project_id = ${projectId}
      AND a.subject_type = 'payout'
      AND a.subject_id = p.id
      AND ${condition}
  )`;

/**
 * SQL: whether the payout `p`, with its row `w` of `wallet_payout`, matches the searched text.
 * @param named ids of payouts that pay the searched address or have the searched hash
 */
const matches = (
  { projectId, searchedAssets }: PayoutsMatched,
  part: string,
  named: readonly string[],
): Statement => {
  const pattern = patternOf(part);
  const wanted = part.toLowerCase();
  return sql`
    (
      p.id = ANY (${named}::text[])
      OR p.reference ILIKE ${pattern}::text
      OR ${wanted}::text IN (p.id, p.source_account_id, w.from_wallet_id, lower(w.from_address))
      OR p.currency = ANY (${searchedAssets}::text[])
      OR EXISTS (
        SELECT 1 FROM jsonb_array_elements(w.totals) AS total
        WHERE lower(total->'token'->>'symbol') = ${wanted}::text
      )
      OR ${isAnnotated(projectId, hasNote("a", pattern))}
    )`;
};

const conditionsOf = (
  query: PayoutsMatched,
  named: readonly string[],
): readonly Statement[] => {
  const { projectId } = query;
  const { ids: only, status, kind, chainId, walletId, from, to, q, tag } = query.filter;
  return [
    sql`p.project_id = ${projectId}`,
    ...(only === undefined ? [] : [sql`p.id = ANY (${only}::text[])`]),
    ...(from === undefined
      ? []
      : [sql`p.id >= ${idBound(from, -SKEW_MS)}`, sql`p.created_at >= ${from}::timestamptz`]),
    ...(to === undefined
      ? []
      : [sql`p.id < ${idBound(to, SKEW_MS)}`, sql`p.created_at < ${to}::timestamptz`]),
    ...(status === undefined ? [] : [sql`p.status = ANY (${status}::text[])`]),
    ...(kind === undefined ? [] : [sql`p.kind = ANY (${kind}::text[])`]),
    ...(chainId === undefined ? [] : [sql`w.chain_id = ANY (${chainId}::int8[])`]),
    ...(walletId === undefined ? [] : [sql`w.from_wallet_id = ANY (${walletId}::text[])`]),
    ...(tag === undefined ? [] : [isAnnotated(projectId, hasTag("a", tag))]),
    ...(q === undefined ? [] : [matches(query, q, named)]),
  ];
};

const payoutsByHash = (db: SqlReader, projectId: string, hash: string) =>
  ids.all(
    db,
    sql`
      SELECT DISTINCT payout_id AS id FROM wallet_payout_batch
      WHERE project_id = ${projectId} AND (tx_hash = ${hash} OR user_op_hash = ${hash})`,
  );

/**
 * Finds the payouts that pay an address with one of the project's newest `ROWS_SEARCHED` rows.
 * Older rows are not searched, because recipients have no index: an index would make storing a
 * large payout slow.
 */
const payoutsByRecipient = (db: SqlReader, projectId: string, address: string) =>
  ids.all(
    db,
    sql`
      SELECT DISTINCT payout_id AS id
      FROM (
        SELECT payout_id, recipient FROM wallet_payout_item
        WHERE project_id = ${projectId}
        ORDER BY payout_id DESC, index DESC
        LIMIT ${ROWS_SEARCHED}::int
      ) AS latest
      WHERE lower(recipient) = ${address}`,
  );

const soleAddresses = async (db: SqlReader, projectId: string, payoutIds: readonly string[]) =>
  payoutIds.length === 0
    ? []
    : soleRecipients.all(
        db,
        sql`
          SELECT payout_id AS id, recipient FROM wallet_payout_item
          WHERE project_id = ${projectId} AND payout_id = ANY (${payoutIds}::text[]) AND index = 0`,
      );

const soleAccounts = async (db: SqlReader, projectId: string, payoutIds: readonly string[]) =>
  payoutIds.length === 0
    ? []
    : soleRecipients.all(
        db,
        sql`
          SELECT r.payout_id AS id, r.rows->0->>0 AS recipient
          FROM payout_rows r
          JOIN payout p ON p.project_id = r.project_id AND p.id = r.payout_id
          WHERE p.project_id = ${projectId}
            AND r.payout_id = ANY (${payoutIds}::text[])
            AND r.first_index = 0`,
      );

export const createPayoutActivityRepository = ({ prisma, pool }: Database) => {
  const db = sqlOn(pool);

  /**
   * Finds the ids of the payouts that pay the address `wanted`, or that have a batch whose
   * transaction or user operation has the hash `wanted`. Returns no ids when `wanted` is another
   * text.
   */
  const named = async (projectId: string, wanted: string | undefined): Promise<string[]> => {
    if (wanted === undefined) return [];
    const found = HASH.test(wanted)
      ? await payoutsByHash(db, projectId, wanted)
      : ADDRESS.test(wanted)
        ? await payoutsByRecipient(db, projectId, wanted)
        : [];
    return found.map(({ id }) => id);
  };

  const condition = async (query: PayoutsMatched): Promise<Statement> => {
    const { projectId, filter } = query;
    return join(conditionsOf(query, await named(projectId, filter.q?.toLowerCase())), " AND ");
  };

  return {
    /**
     * SQL: whether a payout `p`, with its row `w` of `wallet_payout`, belongs to the list with
     * this filter.
     */
    condition,

    page: async (query: PayoutActivityQuery): Promise<Payout[]> => {
      const { projectId, before, limit } = query;
      const older = before === undefined ? sql`` : sql` AND p.id < ${before}`;
      const found = await ids.all(
        db,
        // PostgreSQL walks along the index on project and id, newest first, and stops when the page
        // is full.
        sql`
          SELECT p.id
          FROM payout p
          LEFT JOIN wallet_payout w ON w.project_id = p.project_id AND w.payout_id = p.id
          WHERE ${await condition(query)}${older}
          ORDER BY p.id DESC
          LIMIT ${limit}::int`,
      );
      const rows = await prisma.payout.findMany({
        where: { projectId, id: { in: found.map(({ id }) => id) } },
        orderBy: { id: "desc" },
      });
      return rows.map(parsePayout);
    },

    /** For each id of a payout with a single row, reads the recipient of the row. */
    soleRecipients: async (
      projectId: string,
      payouts: readonly Payout[],
    ): Promise<ReadonlyMap<string, SoleRecipient>> => {
      const idsOf = (kind: Payout["kind"]): string[] =>
        payouts
          .filter((payout) => payout.kind === kind && payout.itemsTotal === 1)
          .map(({ id }) => id);
      const [addresses, accounts] = await Promise.all([
        soleAddresses(db, projectId, idsOf("wallets")),
        soleAccounts(db, projectId, idsOf("global_accounts")),
      ]);
      return new Map<string, SoleRecipient>([
        ...addresses.map(
          ({ id, recipient }) =>
            [id, { type: "address", address: storedAddress.parse(recipient) }] as const,
        ),
        ...accounts.map(
          ({ id, recipient }) => [id, { type: "account", accountId: recipient }] as const,
        ),
      ]);
    },
  };
};

export type PayoutActivityRepository = ReturnType<typeof createPayoutActivityRepository>;
