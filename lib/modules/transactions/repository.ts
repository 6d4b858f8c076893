import type { Database, Queryable } from "@/lib/db/client";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { Prisma, type ChainTransaction } from "@/lib/db/generated/client";
import type { EvmAddress } from "@/lib/ports/routing";

type Hex = `0x${string}`;
export type TransactionStatus = "signed" | "broadcast" | "mined" | "final";

/** Signed bytes and what they say. Fees in wei per gas. */
export interface SignedVersion {
  readonly nonce: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly raw: Hex;
  readonly hash: Hex;
}

export interface StoredTransaction extends SignedVersion {
  readonly id: string;
  readonly chainId: number;
  readonly from: EvmAddress;
  readonly purpose: string;
  readonly to: EvmAddress;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  /** Earlier versions; any of them may be the one that is mined. */
  readonly replacedHashes: readonly Hex[];
  readonly status: TransactionStatus;
  readonly minedHash: Hex | null;
  readonly blockNumber: bigint | null;
  readonly createdAt: Date;
  /** When its latest version was first offered to a node that took it. */
  readonly broadcastAt: Date | null;
  readonly updatedAt: Date;
}

export interface TransactionRow {
  readonly id: string;
  readonly chainId: number;
  readonly from: EvmAddress;
  readonly purpose: string;
  readonly to: EvmAddress;
  readonly data: Hex;
  readonly value: bigint;
  readonly gas: bigint;
  readonly createdAt: Date;
}

interface Insert {
  readonly row: TransactionRow;
  /** The nonce to begin with where this account has sent nothing on this chain yet. */
  readonly firstNonce: bigint;
  /** Signs with the nonce it is given. Must not use the database or the network: the nonce's row is locked meanwhile. */
  readonly sign: (nonce: bigint) => Promise<SignedVersion>;
}

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

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === UNIQUE_VIOLATION;

/** Rows of `chain_transaction` and `signer_nonce`. Every change names the state that it expects. */
export const createTransactionRepository = (database: Database) => {
  const { prisma } = database;

  /** Changes the row only while it is still as it was read. */
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
    find: async (chainId: number, purpose: string): Promise<StoredTransaction | null> => {
      const row = await prisma.chainTransaction.findUnique({ where: { chainId_purpose: { chainId, purpose } } });
      return row === null ? null : toStored(row);
    },

    hasNonce: async (chainId: number, address: EvmAddress): Promise<boolean> =>
      (await prisma.signerNonce.count({ where: { chainId, address } })) > 0,

    /** Takes the next nonce, signs and stores, in one transaction. Null when the purpose is stored already. */
    insert: async ({ row, firstNonce, sign }: Insert): Promise<StoredTransaction | null> => {
      try {
        return await database.transaction(async (tx) => {
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
          return toStored(inserted);
        });
      } catch (error) {
        // The rollback gave the nonce back.
        if (isUniqueViolation(error)) return null;
        throw error;
      }
    },

    /** Those that are not final, in the order in which they must be mined. */
    listOpen: async (chainId: number, limit: number): Promise<StoredTransaction[]> => {
      const rows = await prisma.chainTransaction.findMany({
        where: { chainId, status: { in: [...OPEN] } },
        orderBy: [{ fromAddress: "asc" }, { nonce: "asc" }],
        take: limit,
      });
      return rows.map(toStored);
    },

    markBroadcast: (read: StoredTransaction, at: Date): Promise<boolean> =>
      change(read, ["signed"], { status: "broadcast", broadcastAt: at, updatedAt: at }),

    markMined: (read: StoredTransaction, mined: { hash: Hex; blockNumber: bigint }, at: Date): Promise<boolean> =>
      change(read, OPEN, { status: "mined", minedHash: mined.hash, blockNumber: mined.blockNumber, updatedAt: at }),

    markFinal: (read: StoredTransaction, mined: { hash: Hex; blockNumber: bigint }, at: Date): Promise<boolean> =>
      change(read, OPEN, { status: "final", minedHash: mined.hash, blockNumber: mined.blockNumber, updatedAt: at }),

    /** Final by our count, with nonces from `from` (included) to `to` (not included). */
    listFinal: async (
      chainId: number,
      account: EvmAddress,
      nonces: { from: bigint; to: bigint; limit: number },
    ): Promise<StoredTransaction[]> => {
      const rows = await prisma.chainTransaction.findMany({
        where: { chainId, fromAddress: account, status: "final", nonce: { gte: nonces.from, lt: nonces.to } },
        orderBy: { nonce: "asc" },
        take: nonces.limit,
      });
      return rows.map(toStored);
    },

    /** A reorg took it out of its block. */
    markDropped: (read: StoredTransaction, at: Date): Promise<boolean> =>
      change(read, ["mined", "final"], {
        status: "broadcast",
        minedHash: null,
        blockNumber: null,
        broadcastAt: at,
        updatedAt: at,
      }),

    /** Stores a dearer version under the same nonce, before any node sees it. */
    replaceVersion: (read: StoredTransaction, version: SignedVersion, at: Date): Promise<boolean> =>
      change(read, UNMINED, {
        ...versionColumns(version),
        status: "signed",
        replacedHashes: [...read.replacedHashes, read.hash],
        broadcastAt: null,
        updatedAt: at,
      }),

    /**
     * Gives a transaction another nonce after a transaction from elsewhere took its own, and sees to it that the nonces
     * to come are above what the chain has counted.
     */
    moveToNewNonce: (
      read: StoredTransaction,
      countedOnChain: bigint,
      sign: (nonce: bigint) => Promise<SignedVersion>,
      at: Date,
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
          // Rolls the nonce back: a number that nobody uses would block all that follow.
          if (count !== 1) throw new LostRaceError();
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof LostRaceError) return false;
          throw error;
        }),
  };
};

class LostRaceError extends Error {}

export type TransactionRepository = ReturnType<typeof createTransactionRepository>;
