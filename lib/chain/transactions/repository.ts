import type { EvmAddress } from "@/lib/core/evm";
import { BundledElsewhereError, type BundledOperation } from "@/lib/chain/ports/transactions";
import type { Database, Tx } from "@/lib/platform/db/client";
import { toDecimal } from "@/lib/platform/db/decimal";
import { Prisma } from "@/lib/platform/db/generated/client";
import { keptSqlOn, sqlOf, type Sql } from "@/lib/platform/db/sql";
import { sql, type Statement } from "@/lib/platform/db/statement";
import { int, int8, table } from "@/lib/platform/db/table";
import { violatedUnique } from "@/lib/platform/db/unique-violation";
import { NotWantedError } from "./errors";
import { createMarks, type Mined } from "./mark-repository";
import {
  bundled,
  type Carrying,
  carriers,
  type SignedVersion,
  signedTransactions,
  type StoredTransaction,
  type TransactionRow,
  transactions,
  type TransactionStatus,
} from "./rows";

export type { Carrying, SignedVersion, StoredTransaction } from "./rows";

type Hex = `0x${string}`;

export interface NewTransactionRow {
  readonly row: TransactionRow;
  /** The first nonce, if the account has no stored nonce on this chain. */
  readonly firstNonce: bigint;
  readonly carries: readonly BundledOperation[];
  /**
   * Runs in the database transaction that stores the row. If it returns false, the transaction is
   * no longer needed and nothing is stored.
   */
  readonly claim?: ((tx: Tx) => Promise<boolean>) | undefined;
  /**
   * Signs with the given nonce. Must not use the database or the network, because it runs while the
   * nonce's row is locked.
   */
  readonly sign: (nonce: bigint) => Promise<SignedVersion>;
}

// Fast path: stores a transaction with one statement when its nonce is probably known.

const PURPOSE_IS_KNOWN = "chain_transaction_chain_id_purpose_key";
const IS_BUNDLED = "bundle_operation_pkey";

const toStored = (row: TransactionRow, version: SignedVersion): StoredTransaction => ({
  ...row,
  ...version,
  replacedHashes: [],
  status: "signed",
  minedHash: null,
  blockNumber: null,
  broadcastAt: null,
  updatedAt: row.createdAt,
});

const counts = table({ count: int });

/**
 * Stores a transaction and its user operations, if its nonce is still the next one. Operation
 * hashes must be sorted, so that two bundles cannot deadlock.
 * @returns whether it was stored
 */
const insertWithNextNonce = async (
  db: Sql,
  stored: StoredTransaction,
  userOpHashes: readonly string[],
): Promise<boolean> => {
  const signed = signedTransactions.list([{ ...stored, fromAddress: stored.from }]);
  const inserted = await counts.first(
    db,
    sql`
      WITH taken AS (
        UPDATE signer_nonce SET next = next + 1
        WHERE address = ${stored.from}
          AND chain_id = ${stored.chainId}::int
          AND next = ${stored.nonce}::bigint
        RETURNING next
      ), stored AS (
        INSERT INTO chain_transaction ("to", replaced_hashes, status, ${signedTransactions.names})
        SELECT ${stored.to}::text, '{}', 'signed', ${signedTransactions.names}
        FROM taken, ${signed} AS signed
        RETURNING id
      ), carried AS (
        INSERT INTO bundle_operation (chain_id, user_op_hash, transaction_id)
        SELECT ${stored.chainId}::int, hash, stored.id
        FROM stored, unnest(${userOpHashes}::text[]) AS hash
        ORDER BY hash
        RETURNING user_op_hash
      )
      SELECT count(*)::int AS count FROM stored`,
  );
  return inserted?.count === 1;
};

/**
 * Caches the next nonce of each account that this instance has used. The insert compares the cached
 * nonce with the stored one, so a wrong nonce stores nothing, and the nonce is then assigned under
 * its lock.
 */
const createQuickInsert = ({ pool }: Pick<Database, "pool">) => {
  const next = new Map<string, bigint>();
  const nameOf = ({ chainId, from }: Pick<TransactionRow, "chainId" | "from">): string =>
    `${String(chainId)}:${from}`;
  const noteNonce = (stored: Pick<StoredTransaction, "chainId" | "from" | "nonce">): void => {
    next.set(nameOf(stored), stored.nonce + 1n);
  };

  return {
    noteNonce,
    /**
     * Stores a transaction with the cached nonce.
     * @returns null when the purpose is stored already; `unknown` when nothing was stored, because
     * the cached nonce is missing or wrong, or because `claim` or an earlier assignment of an
     * operation must be checked under the nonce's lock
     * @throws BundledElsewhereError
     */
    insert: async ({
      row,
      sign,
      carries,
      claim,
    }: NewTransactionRow): Promise<StoredTransaction | null | "unknown"> => {
      const nonce = next.get(nameOf(row));
      if (
        nonce === undefined ||
        claim !== undefined ||
        carries.some(({ after }) => after !== null)
      )
        return "unknown";
      next.delete(nameOf(row));
      const stored = toStored(row, await sign(nonce));
      const userOpHashes = carries.map(({ userOpHash }) => userOpHash);
      try {
        if (!(await insertWithNextNonce(keptSqlOn(pool), stored, userOpHashes)))
          return "unknown";
      } catch (error) {
        if (violatedUnique(error) === PURPOSE_IS_KNOWN) return null;
        if (violatedUnique(error) === IS_BUNDLED)
          throw new BundledElsewhereError("Another transaction carries some of them by now.");
        throw error;
      }
      noteNonce(stored);
      return stored;
    },
  };
};

const UNIQUE_VIOLATION = "P2002";
const OPEN: readonly TransactionStatus[] = ["signed", "broadcast", "mined"];
const UNMINED: readonly TransactionStatus[] = ["signed", "broadcast"];

const versionColumns = (version: SignedVersion) => ({
  nonce: version.nonce,
  maxFeePerGas: toDecimal(version.maxFeePerGas),
  maxPriorityFeePerGas: toDecimal(version.maxPriorityFeePerGas),
  raw: version.raw,
  hash: version.hash,
});

const nonces = table({ nonce: int8 });

const takeNonce = async (
  tx: Tx,
  chainId: number,
  from: EvmAddress,
  firstNonce: bigint,
): Promise<bigint> => {
  const taken = await nonces.first(
    sqlOf(tx),
    sql`
      INSERT INTO signer_nonce (address, chain_id, next)
      VALUES (${from}, ${chainId}::int, ${firstNonce + 1n}::bigint)
      ON CONFLICT (address, chain_id) DO UPDATE SET next = signer_nonce.next + 1
      RETURNING (next - 1)::text AS nonce`,
  );
  if (taken === null) throw new Error("The nonce was not given.");
  return taken.nonce;
};

/**
 * Assigns to this transaction the operations that were in no transaction, and the operations whose
 * assignment has not changed since the caller read it.
 * @throws BundledElsewhereError
 */
const load = async (
  db: Sql,
  row: Pick<TransactionRow, "id" | "chainId">,
  carries: readonly BundledOperation[],
): Promise<void> => {
  // The operations are sorted, so that two bundles cannot deadlock.
  const sorted = [...carries].sort((a, b) => (a.userOpHash < b.userOpHash ? -1 : 1));
  const first = sorted
    .filter(({ after }) => after === null)
    .map(({ userOpHash }) => userOpHash);
  const again = sorted.flatMap(({ userOpHash, after }) =>
    after === null ? [] : [{ userOpHash, after }],
  );
  let loaded = 0;
  if (first.length > 0)
    loaded += await db.change(sql`
      INSERT INTO bundle_operation (chain_id, user_op_hash, transaction_id)
      SELECT ${row.chainId}::int, hash, ${row.id}::text FROM unnest(${first}::text[]) AS hash
      ON CONFLICT (chain_id, user_op_hash) DO NOTHING`);
  if (again.length > 0)
    loaded += await db.change(sql`
      UPDATE bundle_operation b SET
        transaction_id = ${row.id},
        attempts = b.attempts + 1
      FROM unnest(
        ${again.map(({ userOpHash }) => userOpHash)}::text[],
        ${again.map(({ after }) => after)}::text[]
      ) AS moved (hash, transaction_id)
      WHERE b.chain_id = ${row.chainId}::int
        AND b.user_op_hash = moved.hash
        AND b.transaction_id = moved.transaction_id`);
  // The error rolls back both the transaction and its nonce.
  if (loaded !== carries.length)
    throw new BundledElsewhereError("Another transaction carries some of them by now.");
};

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === UNIQUE_VIOLATION;

const storedOf = (row: object): StoredTransaction => {
  const { fromAddress, ...stored } = transactions.read(row);
  return { ...stored, from: fromAddress };
};

const COLUMNS = transactions.columns("t");

const createTransactionReader = ({ prisma }: Database) => {
  const db = sqlOf(prisma);

  const first = async (statement: Statement): Promise<StoredTransaction | null> => {
    const [row] = await db.query<object>(statement);
    return row === undefined ? null : storedOf(row);
  };

  return {
    find: (chainId: number, purpose: string): Promise<StoredTransaction | null> =>
      first(sql`
        SELECT ${COLUMNS} FROM chain_transaction t
        WHERE t.chain_id = ${chainId}::int AND t.purpose = ${purpose}`),

    hasNonce: async (chainId: number, address: EvmAddress): Promise<boolean> =>
      (await prisma.signerNonce.count({ where: { chainId, address } })) > 0,

    findById: (id: string): Promise<StoredTransaction | null> =>
      first(sql`SELECT ${COLUMNS} FROM chain_transaction t WHERE t.id = ${id}`),

    bundles: async (
      chainId: number,
      userOpHashes: readonly Hex[],
    ): Promise<{ userOpHash: Hex; attempts: number; transaction: Carrying }[]> => {
      const rows = await db.query<object>(sql`
        SELECT ${bundled.columns("b")}, ${carriers.columns("t")}
        FROM bundle_operation b
        JOIN chain_transaction t ON t.id = b.transaction_id
        WHERE b.chain_id = ${chainId}::int AND b.user_op_hash = ANY(${userOpHashes}::text[])`);
      return rows.map((row) => ({ ...bundled.read(row), transaction: carriers.read(row) }));
    },

    /** The number of unmined transactions by account. Accounts without any are missing. */
    unminedCounts: async (
      chainId: number,
      accounts: readonly EvmAddress[],
    ): Promise<ReadonlyMap<EvmAddress, number>> => {
      const rows = await prisma.chainTransaction.groupBy({
        by: ["fromAddress"],
        where: { chainId, fromAddress: { in: [...accounts] }, status: { in: [...UNMINED] } },
        _count: true,
      });
      return new Map(rows.map((row) => [row.fromAddress as EvmAddress, row._count]));
    },

    /** The transactions that are not final, by account and nonce. */
    listOpen: async (chainId: number, limit: number): Promise<StoredTransaction[]> => {
      const rows = await db.query<object>(sql`
        SELECT ${COLUMNS} FROM chain_transaction t
        WHERE t.chain_id = ${chainId}::int AND t.status = ANY(${OPEN}::text[])
        ORDER BY t.from_address, t.nonce
        LIMIT ${limit}::int`);
      return rows.map(storedOf);
    },

    /**
     * Final transactions with nonces from `from` (inclusive) to `to` (exclusive) whose signed bytes
     * are still stored.
     */
    listFinal: async (
      chainId: number,
      account: EvmAddress,
      nonces: { from: bigint; to: bigint; limit: number },
    ): Promise<StoredTransaction[]> => {
      const rows = await db.query<object>(sql`
        SELECT ${COLUMNS} FROM chain_transaction t
        WHERE t.chain_id = ${chainId}::int
          AND t.from_address = ${account}
          AND t.status = 'final'
          AND t.raw <> ''
          AND t.nonce >= ${nonces.from}::bigint
          AND t.nonce < ${nonces.to}::bigint
        ORDER BY t.nonce
        LIMIT ${nonces.limit}::int`);
      return rows.map(storedOf);
    },
  };
};

type MoveToNewNonce = [
  read: StoredTransaction,
  countedOnChain: bigint,
  sign: (nonce: bigint) => Promise<SignedVersion>,
  at: Date,
];

/**
 * Gives a transaction a new nonce after an external transaction used its nonce, and raises the
 * stored next nonce to the chain's count.
 */
const moveToNewNonce = (
  database: Database,
  ...[read, countedOnChain, sign, at]: MoveToNewNonce
): Promise<boolean> =>
  database
    .transaction(async (tx) => {
      await tx.signerNonce.updateMany({
        where: { chainId: read.chainId, address: read.from, next: { lt: countedOnChain } },
        data: { next: countedOnChain },
      });
      const version = await sign(await takeNonce(tx, read.chainId, read.from, countedOnChain));
      const { count } = await tx.chainTransaction.updateMany({
        where: { id: read.id, hash: read.hash, status: { in: [...UNMINED] } },
        data: {
          ...versionColumns(version),
          status: "signed",
          replacedHashes: [...read.replacedHashes, read.hash],
          broadcastAt: null,
          updatedAt: at,
        },
      });
      // The error rolls back the nonce, because an unused nonce would block all later transactions.
      if (count !== 1) throw new LostRaceError();
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof LostRaceError) return false;
      throw error;
    });

/**
 * Rows of `chain_transaction` and `signer_nonce`. Every change is conditional on the expected
 * status.
 */
export const createTransactionRepository = (database: Database) => {
  const { prisma } = database;
  const quickInsert = createQuickInsert(database);
  const mark = createMarks(database);

  /** Changes the row only if it is unchanged since it was read. */
  const change = async (
    read: StoredTransaction,
    expected: readonly TransactionStatus[],
    data: Prisma.ChainTransactionUpdateManyMutationInput,
  ): Promise<boolean> => {
    const { count } = await prisma.chainTransaction.updateMany({
      where: { id: read.id, hash: read.hash, status: { in: [...expected] } },
      data,
    });
    return count === 1;
  };

  return {
    ...createTransactionReader(database),

    /**
     * Assigns the next nonce, and signs and stores the transaction with its operations, in one
     * database transaction. Null when the purpose is stored already.
     * @throws BundledElsewhereError, NotWantedError
     */
    insert: async (input: NewTransactionRow): Promise<StoredTransaction | null> => {
      const quickly = await quickInsert.insert(input);
      if (quickly !== "unknown") return quickly;
      const { row, firstNonce, sign, carries, claim } = input;
      try {
        const stored = await database.transaction(async (tx) => {
          if (claim !== undefined && !(await claim(tx)))
            throw new NotWantedError("The transaction is not wanted any more.");
          const version = await sign(await takeNonce(tx, row.chainId, row.from, firstNonce));
          const { from, ...columns } = row;
          await tx.chainTransaction.create({
            data: {
              ...columns,
              ...versionColumns(version),
              fromAddress: from,
              value: toDecimal(row.value),
              status: "signed",
              updatedAt: row.createdAt,
            },
          });
          await load(sqlOf(tx), row, carries);
          return toStored(row, version);
        });
        quickInsert.noteNonce(stored);
        return stored;
      } catch (error) {
        // The rollback has also released the nonce.
        if (isUniqueViolation(error)) return null;
        throw error;
      }
    },

    markBroadcast: (read: StoredTransaction, at: Date): Promise<boolean> =>
      mark({ read, expected: ["signed"], status: "broadcast", mined: null, at }),

    markMined: (read: StoredTransaction, mined: Mined, at: Date): Promise<boolean> =>
      mark({ read, expected: OPEN, status: "mined", mined, at }),

    markFinal: (read: StoredTransaction, mined: Mined, at: Date): Promise<boolean> =>
      mark({ read, expected: OPEN, status: "final", mined, at }),

    /** Marks a transaction that a reorganisation removed from its block as broadcast again. */
    markDropped: (read: StoredTransaction, at: Date): Promise<boolean> =>
      mark({ read, expected: ["mined", "final"], status: "broadcast", mined: null, at }),

    /** Stores a version with a higher fee and the same nonce, before it is sent to any node. */
    replaceVersion: (
      read: StoredTransaction,
      version: SignedVersion,
      at: Date,
    ): Promise<boolean> =>
      change(read, UNMINED, {
        ...versionColumns(version),
        status: "signed",
        replacedHashes: [...read.replacedHashes, read.hash],
        broadcastAt: null,
        updatedAt: at,
      }),

    moveToNewNonce: (...move: MoveToNewNonce) => moveToNewNonce(database, ...move),
  };
};

class LostRaceError extends Error {}

export type TransactionRepository = ReturnType<typeof createTransactionRepository>;
