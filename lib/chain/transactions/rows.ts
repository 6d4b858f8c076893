import { z } from "zod";
import type { EvmAddress } from "@/lib/core/evm";
import {
  address,
  base,
  type Column,
  int,
  int8,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
  hex,
} from "@/lib/platform/db/table";

type Hex = `0x${string}`;

const hexes: Column<readonly Hex[]> = {
  type: "text[]",
  select: (name) => `coalesce(${name}, '{}')`,
  read: (stored) => stored as readonly Hex[],
  write: (values) => values,
};

const status = z.enum(["signed", "broadcast", "mined", "final"]);

/** Signed bytes and their content. Fees in wei per gas. */
const VERSION = {
  nonce: int8,
  maxFeePerGas: base,
  maxPriorityFeePerGas: base,
  /** The signed bytes. Empty when the transaction has been final for a long time. */
  raw: hex,
  hash: hex,
};

/** The columns of a newly signed transaction, without `to`, whose name needs quotes. */
const SIGNED = {
  id: text,
  chainId: int,
  fromAddress: address,
  purpose: text,
  data: hex,
  value: base,
  gas: int8,
  createdAt: time,
  ...VERSION,
  updatedAt: time,
};

export const signedTransactions = table(SIGNED);

/** Table `chain_transaction`. `columns` needs an alias, because `to` is a reserved word. */
export const transactions = table({
  ...SIGNED,
  to: address,
  /** Hashes of earlier versions, any of which may be the mined one. */
  replacedHashes: hexes,
  status: oneOf(status),
  minedHash: nullable(hex),
  blockNumber: nullable(int8),
  /** When a node first accepted the latest version. */
  broadcastAt: nullable(time),
});

type Row = RowOf<typeof transactions>;

export type TransactionStatus = Row["status"];
export type SignedVersion = Pick<Row, keyof typeof VERSION>;

export interface StoredTransaction extends Omit<Row, "fromAddress"> {
  readonly from: EvmAddress;
}

export type TransactionRow = Pick<
  StoredTransaction,
  "id" | "chainId" | "from" | "purpose" | "to" | "data" | "value" | "gas" | "createdAt"
>;

/** A transaction with operations, without its long signed bytes. */
export const carriers = transactions.pick("id", "hash", "status", "minedHash");

export type Carrying = RowOf<typeof carriers>;

export const bundled = table({ userOpHash: hex, attempts: int });

export const marks = table({
  place: int,
  id: text,
  hash: hex,
  expected: json(z.array(status)),
  status: oneOf(status),
  minedHash: nullable(hex),
  blockNumber: nullable(int8),
  at: time,
});
