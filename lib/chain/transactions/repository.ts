import type { Database, Queryable } from "@/lib/platform/db/client";
import { keptSqlOn } from "@/lib/platform/db/sql";
import { violatedUnique } from "@/lib/platform/db/unique-violation";
import { BundledElsewhereError, type BundledOperation } from "@/lib/chain/ports/transactions";
import type {
  NewTransactionRow,
  SignedVersion,
  StoredTransaction,
  TransactionRow,
  TransactionStatus,
} from "./stored-transaction";
import { jsonRows } from "@/lib/platform/db/json-rows";
import { createBatcher } from "@/lib/core/batch";
import { toBigInt, toDecimal } from "@/lib/platform/db/decimal";
import { type ChainTransaction, Prisma } from "@/lib/platform/db/generated/client";
import type { EvmAddress } from "@/lib/core/evm";
import { NotWantedError } from "./errors";

// Stores one of the service's own transactions with one statement, when its nonce is probably known
// in advance.

// Stores nothing unless the nonce is still the next one. Operation hashes are sorted, so that two
// bundles cannot deadlock.
const INSERT = `
  WITH taken AS (
    UPDATE signer_nonce SET next = next + 1
    WHERE address = $3 AND chain_id = $2::int AND next = $4::bigint RETURNING next
  ), stored AS (
    INSERT INTO chain_transaction (id, chain_id, from_address, nonce, purpose, "to", data, value, gas, max_fee_per_gas,
      max_priority_fee_per_gas, raw, hash, replaced_hashes, status, created_at, updated_at)
    SELECT $1, $2::int, $3, $4::bigint, $5, $6, $7, $8::numeric, $9::bigint, $10::numeric, $11::numeric, $12, $13, '{}', 'signed',
      $14::timestamptz, $14::timestamptz
    FROM taken RETURNING id
  ), carried AS (
    INSERT INTO bundle_operation (chain_id, user_op_hash, transaction_id)
    SELECT $2::int, hash, stored.id FROM stored, unnest($15::text[]) AS hash ORDER BY hash
    RETURNING user_op_hash
  )
  SELECT count(*)::int AS count FROM stored`;

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

const valuesOf = (stored: StoredTransaction, userOpHashes: readonly string[]): unknown[] => [
  ...[
    stored.id,
    stored.chainId,
    stored.from,
    stored.nonce.toString(),
    stored.purpose,
    stored.to,
    stored.data,
  ],
  ...[stored.value, stored.gas, stored.maxFeePerGas, stored.maxPriorityFeePerGas].map(String),
  ...[stored.raw, stored.hash, stored.createdAt.toISOString(), userOpHashes],
];

/**
 * Remembers the next nonce of each account that this instance has used. The statement compares it,
 * so a wrong nonce stores nothing, and the nonce is then taken under its lock.
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
     * @returns null when the purpose is stored already; `unknown` when the nonce is unknown, or
     * more has to be decided under its lock, and nothing was stored
     * @throws BundledElsewhereError
     */
    insert: async ({
      row,
      sign,
      carries,
      claim,
    }: NewTransactionRow): Promise<StoredTransaction | null | "unknown"> => {
      const nonce = next.get(nameOf(row));
      if (nonce === undefined || claim !== undefined || carries.some(({ after }) => after !== null))
        return "unknown";
      next.delete(nameOf(row));
      const stored = toStored(row, await sign(nonce));
      try {
        const values = valuesOf(
          stored,
          carries.map(({ userOpHash }) => userOpHash),
        );
        const [inserted] = await keptSqlOn(pool).query<{ count: number }>(INSERT, values);
        if (inserted?.count !== 1) return "unknown";
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

// Records the states of stored transactions on the network and the chain. Concurrent updates share
// one statement.

/** The version that was mined. */
interface Mined {
  readonly hash: `0x${string}`;
  readonly blockNumber: bigint;
}

interface Mark {
  readonly read: Pick<StoredTransaction, "id" | "hash">;
  /** The states that the transaction may be in. */
  readonly expected: readonly TransactionStatus[];
  readonly status: Exclude<TransactionStatus, "signed">;
  readonly mined: Mined | null;
  readonly at: Date;
}

const MARKS_MAX = 100;

const MARKED =
  'place int, id text, hash text, expected jsonb, status text, "minedHash" text, "blockNumber" bigint, at timestamptz';
// The rows are locked in the order of their ids, so that two sets cannot deadlock.
const MARK = `
  WITH w AS MATERIALIZED (
    SELECT * FROM ${jsonRows("$1", MARKED, "id")} AS v
  ), locked AS MATERIALIZED (
    SELECT w.place FROM w CROSS JOIN LATERAL (
      SELECT 1 FROM chain_transaction t WHERE t.id = w.id AND t.hash = w.hash AND w.expected ? t.status FOR NO KEY UPDATE
    ) AS found
  )
  UPDATE chain_transaction t SET status = w.status, mined_hash = w."minedHash", block_number = w."blockNumber", updated_at = w.at,
    broadcast_at = CASE WHEN w.status = 'broadcast' THEN w.at ELSE t.broadcast_at END
  FROM w JOIN locked ON locked.place = w.place
  WHERE t.id = w.id RETURNING w.place`;

/**
 * Records the state of a transaction, if it is unchanged since it was read.
 * @returns whether it was recorded
 */
const createMarks = ({ pool }: Pick<Database, "pool">): ((mark: Mark) => Promise<boolean>) => {
  const sql = keptSqlOn(pool);
  const { submit } = createBatcher({
    run: async (marks: readonly Mark[]) => {
      const rows = marks.map(({ read, expected, status, mined, at }, place) => ({
        ...{ place, id: read.id, hash: read.hash, expected, status, at },
        minedHash: mined?.hash ?? null,
        blockNumber: mined?.blockNumber.toString() ?? null,
      }));
      const marked = await sql.query<{ place: number }>(MARK, [JSON.stringify(rows)]);
      const places = new Set(marked.map(({ place }) => place));
      return marks.map((_, place) => ({ isMarked: places.has(place) }));
    },
    batchWeightMax: MARKS_MAX,
    lanes: 2,
  });
  return async (mark) => (await submit(mark)).isMarked;
};

export type {
  SignedVersion,
  StoredTransaction,
  TransactionRow,
  TransactionStatus,
} from "./stored-transaction";

type Hex = `0x${string}`;

export type Carrying = Pick<StoredTransaction, "id" | "hash" | "status" | "minedHash">;

const UNIQUE_VIOLATION = "P2002";
const OPEN: readonly TransactionStatus[] = ["signed", "broadcast", "mined"];
const UNMINED: readonly TransactionStatus[] = ["signed", "broadcast"];

const storedOf = (row: ChainTransaction): StoredTransaction => ({
  id: row.id,
  chainId: row.chainId,
  from: row.fromAddress as EvmAddress,
  nonce: row.nonce,
  purpose: row.purpose,
  to: row.to as EvmAddress,
  data: row.data as Hex,
  value: toBigInt(row.value),
  gas: row.gas,
  maxFeePerGas: toBigInt(row.maxFeePerGas),
  maxPriorityFeePerGas: toBigInt(row.maxPriorityFeePerGas),
  raw: row.raw as Hex,
  hash: row.hash as Hex,
  replacedHashes: row.replacedHashes as Hex[],
  status: row.status as TransactionStatus,
  minedHash: row.minedHash as Hex | null,
  blockNumber: row.blockNumber,
  createdAt: row.createdAt,
  broadcastAt: row.broadcastAt,
  updatedAt: row.updatedAt,
});

const versionColumns = (version: SignedVersion) => ({
  nonce: version.nonce,
  maxFeePerGas: toDecimal(version.maxFeePerGas),
  maxPriorityFeePerGas: toDecimal(version.maxPriorityFeePerGas),
  raw: version.raw,
  hash: version.hash,
});

const takeNonce = async (
  tx: Queryable,
  chainId: number,
  from: EvmAddress,
  firstNonce: bigint,
): Promise<bigint> => {
  const rows = await tx.$queryRaw<{ nonce: bigint }[]>`
    INSERT INTO signer_nonce (address, chain_id, next) VALUES (${from}, ${chainId}, ${firstNonce + 1n})
    ON CONFLICT (address, chain_id) DO UPDATE SET next = signer_nonce.next + 1
    RETURNING next - 1 AS nonce`;
  const [row] = rows;
  if (row === undefined) throw new Error("The nonce was not given.");
  return row.nonce;
};

/**
 * Assigns the operations to this transaction: those that were in no transaction, and those whose
 * assignment is still as the caller read it.
 * @throws BundledElsewhereError
 */
const load = async (
  tx: Queryable,
  row: Pick<TransactionRow, "id" | "chainId">,
  carries: readonly BundledOperation[],
) => {
  // Sorted the same way in all transactions, so that two bundles cannot deadlock.
  const sorted = [...carries].sort((a, b) => (a.userOpHash < b.userOpHash ? -1 : 1));
  const first = sorted.filter(({ after }) => after === null).map(({ userOpHash }) => userOpHash);
  const again = sorted.flatMap(({ userOpHash, after }) =>
    after === null ? [] : [{ userOpHash, after }],
  );
  let loaded = 0;
  if (first.length > 0) {
    loaded += await tx.$executeRaw`
      INSERT INTO bundle_operation (chain_id, user_op_hash, transaction_id)
      SELECT ${row.chainId}, hash, ${row.id} FROM unnest(${first}::text[]) AS hash
      ON CONFLICT (chain_id, user_op_hash) DO NOTHING`;
  }
  if (again.length > 0) {
    loaded += await tx.$executeRaw`
      UPDATE bundle_operation b SET transaction_id = ${row.id}, attempts = b.attempts + 1
      FROM unnest(${again.map(({ userOpHash }) => userOpHash)}::text[], ${again.map(({ after }) => after)}::text[])
        AS moved (hash, transaction_id)
      WHERE b.chain_id = ${row.chainId} AND b.user_op_hash = moved.hash AND b.transaction_id = moved.transaction_id`;
  }
  // Rolls back both the transaction and its nonce.
  if (loaded !== carries.length)
    throw new BundledElsewhereError("Another transaction carries some of them by now.");
};

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === UNIQUE_VIOLATION;

/** Reads `chain_transaction`, `signer_nonce` and `bundle_operation`. */
const createTransactionReader = ({ prisma }: Database) => ({
  find: async (chainId: number, purpose: string): Promise<StoredTransaction | null> => {
    const row = await prisma.chainTransaction.findUnique({
      where: { chainId_purpose: { chainId, purpose } },
    });
    return row === null ? null : storedOf(row);
  },

  hasNonce: async (chainId: number, address: EvmAddress): Promise<boolean> =>
    (await prisma.signerNonce.count({ where: { chainId, address } })) > 0,

  findById: async (id: string): Promise<StoredTransaction | null> => {
    const row = await prisma.chainTransaction.findUnique({ where: { id } });
    return row === null ? null : storedOf(row);
  },

  /** The bundle transaction of each operation. */
  bundles: async (
    chainId: number,
    userOpHashes: readonly Hex[],
  ): Promise<{ userOpHash: Hex; attempts: number; transaction: Carrying }[]> => {
    // Reads no signed bytes, which are long for a bundle.
    const rows = await prisma.$queryRaw<(Carrying & { userOpHash: Hex; attempts: number })[]>`
      SELECT b.user_op_hash AS "userOpHash", b.attempts, t.id, t.hash, t.status, t.mined_hash AS "minedHash"
      FROM bundle_operation b JOIN chain_transaction t ON t.id = b.transaction_id
      WHERE b.chain_id = ${chainId} AND b.user_op_hash = ANY(${userOpHashes})`;
    return rows.map(({ userOpHash, attempts, ...transaction }) => ({
      userOpHash,
      attempts,
      transaction,
    }));
  },

  /**
   * The number of transactions by account that are not mined yet; accounts without any are missing.
   */
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

  /** The transactions that are not final, in the order in which they must be mined. */
  listOpen: async (chainId: number, limit: number): Promise<StoredTransaction[]> => {
    const rows = await prisma.chainTransaction.findMany({
      where: { chainId, status: { in: [...OPEN] } },
      orderBy: [{ fromAddress: "asc" }, { nonce: "asc" }],
      take: limit,
    });
    return rows.map(storedOf);
  },

  /**
   * Transactions that are stored as final and whose signed bytes are still stored, with nonces from
   * `from` (inclusive) to `to` (exclusive).
   */
  listFinal: async (
    chainId: number,
    account: EvmAddress,
    nonces: { from: bigint; to: bigint; limit: number },
  ): Promise<StoredTransaction[]> => {
    const rows = await prisma.chainTransaction.findMany({
      where: {
        chainId,
        fromAddress: account,
        status: "final",
        raw: { not: "" },
        nonce: { gte: nonces.from, lt: nonces.to },
      },
      orderBy: { nonce: "asc" },
      take: nonces.limit,
    });
    return rows.map(storedOf);
  },
});

type MoveToNewNonce = [
  read: StoredTransaction,
  countedOnChain: bigint,
  sign: (nonce: bigint) => Promise<SignedVersion>,
  at: Date,
];

/**
 * Gives a transaction a new nonce after an external transaction used its own, and keeps future
 * nonces above the chain's count.
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
      // Rolls back the nonce, because an unused nonce would block all later transactions.
      if (count !== 1) throw new LostRaceError();
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof LostRaceError) return false;
      throw error;
    });

/** Rows of `chain_transaction` and `signer_nonce`. Every change names the state that it expects. */
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
     * Takes the next nonce, signs and stores the transaction with its operations, in one database
     * transaction. Null when the purpose is stored already.
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
          const inserted = await tx.chainTransaction.create({
            data: {
              ...columns,
              ...versionColumns(version),
              fromAddress: from,
              value: toDecimal(row.value),
              status: "signed",
              updatedAt: row.createdAt,
            },
          });
          await load(tx, row, carries);
          return storedOf(inserted);
        });
        quickInsert.noteNonce(stored);
        return stored;
      } catch (error) {
        // The rollback also released the nonce.
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

    /** A reorganisation removed the transaction from its block. */
    markDropped: (read: StoredTransaction, at: Date): Promise<boolean> =>
      mark({ read, expected: ["mined", "final"], status: "broadcast", mined: null, at }),

    /** Stores a version with a higher fee under the same nonce, before it is sent to any node. */
    replaceVersion: (read: StoredTransaction, version: SignedVersion, at: Date): Promise<boolean> =>
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
