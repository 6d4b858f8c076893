/**
 * Reads payouts of both kinds for the list of all movements of money, with the filters of that
 * list.
 */
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { firstIdAt } from "@/lib/core/ids";
import { hasNote, hasTag, patternOf } from "@/lib/money/annotations/service";
import type { Status } from "@/lib/core/status";
import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress } from "@/lib/platform/db/codecs";
import type { Payout } from "./payout";
import { readPayout, type NoteUnread } from "./readable";

export interface PayoutActivityFilter {
  readonly status?: readonly Status[] | undefined;
  readonly kind?: readonly Payout["kind"][] | undefined;
  /**
   * Payouts on any of these chains. Payouts between accounts are on no chain, so the filter
   * excludes them.
   */
  readonly chainId?: readonly number[] | undefined;
  readonly walletId?: readonly string[] | undefined;
  /** Start of the time of creation, as RFC 3339 text, inclusive. */
  readonly from?: string | undefined;
  /** End of the time of creation, as RFC 3339 text, exclusive. */
  readonly to?: string | undefined;
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
}

export interface PayoutActivityQuery {
  readonly projectId: string;
  readonly filter: PayoutActivityFilter;
  /** Ids of the assets whose symbol equals the searched text `q`. */
  readonly searchedAssets: readonly string[];
  /** Only payouts with a smaller id, which are older. Undefined: the first page. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** The recipient of a payout that has a single row. */
export type SoleRecipient =
  | { readonly type: "address"; readonly address: EvmAddress }
  | { readonly type: "account"; readonly accountId: string };

const ROWS_SEARCHED = 100_000;
/**
 * Margin in milliseconds for bounds on ids. The time in an id comes from the clock of the process
 * that created it, and `created_at` from the clock of the database; the two clocks may differ.
 */
const SKEW_MS = 3_600_000;

// PostgreSQL walks along the index on project and id, newest first, and stops when the page is
// full.
const PAGE = `
  SELECT p.id FROM payout p LEFT JOIN wallet_payout w ON w.project_id = p.project_id AND w.payout_id = p.id
  WHERE p.project_id = $1
    AND ($2::text IS NULL OR p.id < $2) AND ($3::text IS NULL OR p.id >= $3) AND ($4::text IS NULL OR p.id < $4)
    AND ($5::timestamptz IS NULL OR p.created_at >= $5) AND ($6::timestamptz IS NULL OR p.created_at < $6)
    AND ($7::text[] IS NULL OR p.status = ANY ($7)) AND ($8::text[] IS NULL OR p.kind = ANY ($8))
    AND ($9::int8[] IS NULL OR w.chain_id = ANY ($9)) AND ($10::text[] IS NULL OR w.from_wallet_id = ANY ($10))
    AND ($11::text IS NULL OR EXISTS (
      SELECT 1 FROM annotation a
      WHERE a.project_id = $1 AND a.subject_type = 'payout' AND a.subject_id = p.id AND ${hasTag("a", "$11")}))
    AND ($12::text IS NULL OR p.id = ANY ($13::text[]) OR p.reference ILIKE $12
      OR $14 IN (p.id, p.source_account_id, w.from_wallet_id, lower(w.from_address)) OR p.currency = ANY ($15::text[])
      OR EXISTS (SELECT 1 FROM jsonb_array_elements(w.totals) AS total WHERE lower(total->'token'->>'symbol') = $14)
      OR EXISTS (
        SELECT 1 FROM annotation a
        WHERE a.project_id = $1 AND a.subject_type = 'payout' AND a.subject_id = p.id AND ${hasNote("a", "$12")}))
  ORDER BY p.id DESC LIMIT $16::int`;

const BY_HASH = `
  SELECT DISTINCT payout_id AS id FROM wallet_payout_batch WHERE project_id = $1 AND (tx_hash = $2 OR user_op_hash = $2)`;

// The recipients of rows have no index, because an index would make storing a large payout slow. So
// only the newest `ROWS_SEARCHED` rows are searched.
const BY_RECIPIENT = `
  SELECT DISTINCT payout_id AS id FROM (
    SELECT payout_id, recipient FROM wallet_payout_item WHERE project_id = $1 ORDER BY payout_id DESC, index DESC LIMIT $3::int
  ) AS latest WHERE lower(recipient) = $2`;

const SOLE_ADDRESSES = `
  SELECT payout_id AS id, recipient FROM wallet_payout_item
  WHERE project_id = $1 AND payout_id = ANY ($2::text[]) AND index = 0`;

const SOLE_ACCOUNTS = `
  SELECT r.payout_id AS id, r.rows->0->>0 AS recipient FROM payout_rows r JOIN payout p ON p.project_id = r.project_id AND p.id = r.payout_id
  WHERE p.project_id = $1 AND r.payout_id = ANY ($2::text[]) AND r.first_index = 0`;

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

const idBound = (time: string | undefined, skewMs: number): string | null =>
  time === undefined ? null : firstIdAt("payout", new Date(Math.max(0, Date.parse(time) + skewMs)));

export const createPayoutActivityRepository = ({ prisma, pool }: Database, note: NoteUnread) => {
  const sql = sqlOn(pool);

  /**
   * Finds the payouts that pay this address, or that have a batch with this hash of a transaction
   * or user operation.
   */
  const named = async (projectId: string, wanted: string | undefined): Promise<string[]> => {
    if (wanted === undefined) return [];
    const rows = HASH.test(wanted)
      ? await sql.query<{ id: string }>(BY_HASH, [projectId, wanted])
      : ADDRESS.test(wanted)
        ? await sql.query<{ id: string }>(BY_RECIPIENT, [projectId, wanted, ROWS_SEARCHED])
        : [];
    return rows.map(({ id }) => id);
  };

  return {
    /** Reads a page of payouts, newest first. */
    page: async ({
      projectId,
      filter,
      searchedAssets,
      before,
      limit,
    }: PayoutActivityQuery): Promise<Payout[]> => {
      const { status, kind, chainId, walletId, from, to, q, tag } = filter;
      const wanted = q?.toLowerCase();
      const found = await sql.query<{ id: string }>(PAGE, [
        ...[
          projectId,
          before ?? null,
          idBound(from, -SKEW_MS),
          idBound(to, SKEW_MS),
          from ?? null,
          to ?? null,
        ],
        ...[status ?? null, kind ?? null, chainId ?? null, walletId ?? null, tag ?? null],
        ...[
          q === undefined ? null : patternOf(q),
          await named(projectId, wanted),
          wanted ?? null,
          searchedAssets,
          limit,
        ],
      ]);
      const rows = await prisma.payout.findMany({
        where: { projectId, id: { in: found.map(({ id }) => id) } },
        orderBy: { id: "desc" },
      });
      return rows.flatMap((row) => readPayout(row, note) ?? []);
    },

    /** Reads the recipients of those payouts that have a single row, by payout id. */
    soleRecipients: async (
      projectId: string,
      payouts: readonly Payout[],
    ): Promise<ReadonlyMap<string, SoleRecipient>> => {
      const idsOf = (kind: Payout["kind"]): string[] =>
        payouts
          .filter((payout) => payout.kind === kind && payout.itemsTotal === 1)
          .map(({ id }) => id);
      const read = async (text: string, ids: readonly string[]) =>
        ids.length === 0
          ? []
          : sql.query<{ id: string; recipient: string }>(text, [projectId, ids]);
      const [addresses, accounts] = await Promise.all([
        read(SOLE_ADDRESSES, idsOf("wallets")),
        read(SOLE_ACCOUNTS, idsOf("global_accounts")),
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
