import type { Database, Queryable } from "@/lib/db/client";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { Prisma, type ChainTransaction } from "@/lib/db/generated/client";
import type { EvmAddress } from "@/lib/ports/routing";
import { BundledElsewhereError, type BundledOperation } from "@/lib/ports/transactions";
import { createQuickInsert } from "./insert-repository";
import { createMarks, type Mined } from "./mark-repository";
import type {
  NewTransactionRow,
  SignedVersion,
  StoredTransaction,
  TransactionRow,
  TransactionStatus,
} from "./stored-transaction";
import { NotWantedError } from "./errors";

export type { SignedVersion, StoredTransaction, TransactionRow, TransactionStatus } from "./stored-transaction";

type Hex = `0x${string}`;

export type Carrying = Pick<StoredTransaction, "id" | "hash" | "status" | "minedHash">;

const UNIQUE_VIOLATION = "P2002";
const OPEN: readonly TransactionStatus[] = ["signed", "broadcast", "mined"];
const UNMINED: readonly TransactionStatus[] = ["signed", "broadcast"];

const toStored = (row: ChainTransaction): StoredTransaction => ({
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

const takeNonce = async (tx: Queryable, chainId: number, from: EvmAddress, firstNonce: bigint): Promise<bigint> => {
  const rows = await tx.$queryRaw<{ nonce: bigint }[]>`
    INSERT INTO signer_nonce (address, chain_id, next) VALUES (${from}, ${chainId}, ${firstNonce + 1n})
    ON CONFLICT (address, chain_id) DO UPDATE SET next = signer_nonce.next + 1
    RETURNING next - 1 AS nonce`;
  const [row] = rows;
  if (row === undefined) throw new Error("The nonce was not given.");
  return row.nonce;
};

/**
 * Assigns the operations to this transaction: those that no transaction contained yet, and those that are still
 * assigned as the caller saw.
 * @throws BundledElsewhereError
 */
const load = async (
  tx: Queryable,
  row: Pick<TransactionRow, "id" | "chainId">,
  carries: readonly BundledOperation[],
) => {
  // Sorted the same way everywhere, so that two bundles never deadlock.
  const sorted = [...carries].sort((a, b) => (a.userOpHash < b.userOpHash ? -1 : 1));
  const first = sorted.filter(({ after }) => after === null).map(({ userOpHash }) => userOpHash);
  const again = sorted.flatMap(({ userOpHash, after }) => (after === null ? [] : [{ userOpHash, after }]));
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
  if (loaded !== carries.length) throw new BundledElsewhereError("Another transaction carries some of them by now.");
};

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === UNIQUE_VIOLATION;

/** Reads `chain_transaction`, `signer_nonce` and `bundle_operation`. */
const createTransactionReader = ({ prisma }: Database) => ({
  find: async (chainId: number, purpose: string): Promise<StoredTransaction | null> => {
    const row = await prisma.chainTransaction.findUnique({ where: { chainId_purpose: { chainId, purpose } } });
    return row === null ? null : toStored(row);
  },

  hasNonce: async (chainId: number, address: EvmAddress): Promise<boolean> =>
    (await prisma.signerNonce.count({ where: { chainId, address } })) > 0,

  findById: async (id: string): Promise<StoredTransaction | null> => {
    const row = await prisma.chainTransaction.findUnique({ where: { id } });
    return row === null ? null : toStored(row);
  },

  /** The bundle transaction of each operation. */
  bundles: async (
    chainId: number,
    userOpHashes: readonly Hex[],
  ): Promise<{ userOpHash: Hex; attempts: number; transaction: Carrying }[]> => {
    // Without the signed bytes, which are long for a bundle.
    const rows = await prisma.$queryRaw<(Carrying & { userOpHash: Hex; attempts: number })[]>`
      SELECT b.user_op_hash AS "userOpHash", b.attempts, t.id, t.hash, t.status, t.mined_hash AS "minedHash"
      FROM bundle_operation b JOIN chain_transaction t ON t.id = b.transaction_id
      WHERE b.chain_id = ${chainId} AND b.user_op_hash = ANY(${userOpHashes})`;
    return rows.map(({ userOpHash, attempts, ...transaction }) => ({ userOpHash, attempts, transaction }));
  },

  /** How many transactions of each account are not mined yet; accounts without any are missing. */
  unminedCounts: async (chainId: number, accounts: readonly EvmAddress[]): Promise<ReadonlyMap<EvmAddress, number>> => {
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
    return rows.map(toStored);
  },

  /** Transactions that we stored as final, unless their signed bytes are gone by now, with nonces from `from` (inclusive) to `to` (exclusive). */
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
    return rows.map(toStored);
  },
});

type MoveToNewNonce = [
  read: StoredTransaction,
  countedOnChain: bigint,
  sign: (nonce: bigint) => Promise<SignedVersion>,
  at: Date,
];

/**
 * Gives a transaction a new nonce after a transaction from elsewhere used its own, and keeps future nonces above the
 * chain's count.
 */
const moveToNewNonce = (database: Database, ...[read, countedOnChain, sign, at]: MoveToNewNonce): Promise<boolean> =>
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
     * Takes the next nonce, signs and stores the transaction with its operations, in one database transaction. Null
     * when the purpose is stored already.
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
          return toStored(inserted);
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
