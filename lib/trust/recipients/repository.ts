/**
 * Reads the addresses of a project with which recipients could be confused, and which of the
 * recipients it has paid.
 */
import { getAddress } from "viem";
import {
  addressEnds,
  isApprovedOn,
  type KnownAddress,
  UNAPPROVED_CONTACT,
} from "@/lib/core/look-alike";
import type { SqlReader } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import type { EvmAddress } from "@/lib/core/evm";
import { addresses, namedAddresses } from "./rows";

const OPERATIONS_MAX = 2000;
const ROWS_MAX = 20_000;

/** Computes `addressEnds` in SQL, in the form of the index `wallet_ends_idx`. */
const ENDS = raw("lower(substr(address, 3, 4) || right(address, 4))");

const NAMES = {
  own: "a wallet of the project",
  contact: UNAPPROVED_CONTACT,
  earlier: "paid before",
} as const;

const knownOf = (
  { address, name, as, state, chainIds }: RowOf<typeof namedAddresses>,
  chainId: number | null,
): KnownAddress => {
  if (as !== "contact") return { address, name: name ?? NAMES[as], as };
  const isApproved =
    state !== null && isApprovedOn({ state, chainIds: chainIds ?? [] }, chainId);
  return isApproved
    ? { address, name: name ?? "", as: "contact" }
    : { address, name: NAMES.contact, as: "proposed" };
};

export interface RecipientRecords {
  /**
   * Wallets, contacts and recipients of earlier payments with the same beginning and end as one of
   * the requested addresses. The requested addresses themselves are included if they are among
   * these.
   */
  readonly known: readonly KnownAddress[];
  /** Wallets of the project, except linked contracts, whose code is only on one chain. */
  readonly own: ReadonlySet<EvmAddress>;
  /** The requested addresses to which the project has paid, as far as the caller may know. */
  readonly paid: ReadonlySet<EvmAddress>;
}

interface Paid {
  readonly inPublic: readonly EvmAddress[];
  readonly inPrivateOnly: readonly EvmAddress[];
}

// Each statement about paid addresses uses one table, so that a distributed PostgreSQL sends it to
// the project's node.

/**
 * Addresses that the project has paid and that have one of `ends` (see `addressEnds`), in lower
 * case.
 */
const readAllPaid = (db: SqlReader, projectId: string, ends: readonly string[]) =>
  // The addresses are lower-case hex, so those with a common beginning are a range of the primary
  // key: they sort after the beginning and before the beginning followed by "g". OFFSET 0 keeps
  // PostgreSQL from joining on the ends, for which it would read every address of the project.
  addresses.all(
    db,
    sql`
      SELECT DISTINCT paid.address
      FROM unnest(${ends}::text[]) AS asked (ends)
      CROSS JOIN LATERAL (
        SELECT address FROM policy_recipient
        WHERE project_id = ${projectId}
          AND address > '0x' || left(asked.ends, 4)
          AND address < '0x' || left(asked.ends, 4) || 'g'
          AND right(address, 4) = right(asked.ends, 4)
        OFFSET 0
      ) AS paid`,
  );

const readPaidInPrivate = (db: SqlReader, projectId: string, paid: readonly EvmAddress[]) =>
  addresses.all(
    db,
    sql`
      SELECT DISTINCT to_address AS address FROM privacy_transfer
      WHERE project_id = ${projectId} AND to_address = ANY (${paid}::text[])`,
  );

/**
 * The addresses in `among` that the newest public operations and payouts paid. Private operations
 * are left out, because a warning about look-alikes would reveal their recipients. Deposits have
 * no recipient.
 */
const readPaidInPublic = (db: SqlReader, projectId: string, among: readonly EvmAddress[]) =>
  addresses.all(
    db,
    sql`
      SELECT DISTINCT recipient AS address
      FROM (
        SELECT recipient
        FROM (
          SELECT request->'destination'->>'recipient' AS recipient
          FROM operation
          WHERE project_id = ${projectId}
            AND status IN ('completed', 'partially_completed', 'processing')
            AND kind NOT IN (
              'shield', 'unshield', 'private_transfer', 'private_swap', 'public_exit', 'deposit'
            )
          ORDER BY id DESC
          LIMIT ${OPERATIONS_MAX}::int
        ) AS latest
        UNION ALL
        SELECT latest.recipient
        FROM (
          SELECT i.recipient, i.payout_id, i.batch, i.status
          FROM wallet_payout_item i
          WHERE i.project_id = ${projectId}
          ORDER BY i.payout_id DESC, i.index DESC
          LIMIT ${ROWS_MAX}::int
        ) AS latest
        JOIN wallet_payout_batch b
          ON b.project_id = ${projectId}
          AND b.payout_id = latest.payout_id
          AND b.number = latest.batch
        WHERE latest.status IS NULL AND b.state IN ('sent', 'mined', 'paid')
      ) AS paid
      WHERE recipient = ANY (${among}::text[])`,
  );

/**
 * The paid addresses that have one of `ends`: those that may be shown as paid, and those that were
 * paid only in private. An address with a private payment is also searched among the newest public
 * payments.
 */
const readPaid = async (
  db: SqlReader,
  projectId: string,
  ends: readonly string[],
): Promise<Paid> => {
  const rows = await readAllPaid(db, projectId, ends);
  const paid = rows.map(({ address }) => getAddress(address));
  if (paid.length === 0) return { inPublic: [], inPrivateOnly: [] };
  const inPrivate = (await readPaidInPrivate(db, projectId, paid)).map(
    ({ address }) => address,
  );
  const both = inPrivate.length === 0 ? [] : await readPaidInPublic(db, projectId, inPrivate);
  const known = new Set(both.map(({ address }) => address));
  const hidden = new Set(inPrivate.filter((address) => !known.has(address)));
  return {
    inPublic: paid.filter((address) => !hidden.has(address)),
    inPrivateOnly: [...hidden],
  };
};

const readNamed = (db: SqlReader, projectId: string, ends: readonly string[]) =>
  namedAddresses.all(
    db,
    sql`
      SELECT address, label AS name, 'own' AS "as",
        contract_chain_id IS NOT NULL AS "isContract", NULL AS state, NULL::int[] AS "chainIds"
      FROM wallet
      WHERE project_id = ${projectId}
        AND unlinked_at IS NULL
        AND ${ENDS} = ANY (${ends}::text[])
      UNION ALL
      SELECT address, name, 'contact', false, state, chain_ids
      FROM contact
      WHERE project_id = ${projectId} AND ${ENDS} = ANY (${ends}::text[])`,
  );

/**
 * The project's records about addresses, and about addresses with which they could be confused.
 * @param addresses checksummed
 * @param chainId chain for which a contact must be approved for its name to be used; null when the
 * chain is not known yet
 * @param seesPrivate whether an address that was paid privately counts as paid; a look-alike of
 * such an address is never reported
 */
export const readRecords = async (
  db: SqlReader,
  projectId: string,
  {
    addresses: requested,
    chainId,
    seesPrivate,
  }: {
    readonly addresses: readonly EvmAddress[];
    readonly chainId: number | null;
    readonly seesPrivate: boolean;
  },
): Promise<RecipientRecords> => {
  const ends = [...new Set(requested.map(addressEnds))];
  const [named, { inPublic, inPrivateOnly }] = await Promise.all([
    readNamed(db, projectId, ends),
    readPaid(db, projectId, ends),
  ]);
  const earlier = inPublic.map((address) => ({
    address,
    name: NAMES.earlier,
    as: "earlier" as const,
  }));
  return {
    known: [...named.map((row) => knownOf(row, chainId)), ...earlier],
    own: new Set(
      named.flatMap(({ as, address, isContract }) =>
        as === "own" && !isContract ? [address] : [],
      ),
    ),
    paid: new Set([...inPublic, ...(seesPrivate ? inPrivateOnly : [])]),
  };
};
