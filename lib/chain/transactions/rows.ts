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

// The service's own transactions, as stored.

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
  /** Empty when the transaction has been final for long. */
  raw: hex,
  hash: hex,
};

/** The columns of a transaction that was just signed, without `to`, whose name needs quotes. */
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

/** Table `chain_transaction`, as a signed transaction is inserted. */
export const signedTransactions = table(SIGNED);

/** Table `chain_transaction`. `columns` needs an alias, because `to` is a reserved word. */
export const transactions = table({
  ...SIGNED,
  to: address,
  /** Earlier versions; any of them may be the one that is mined. */
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

/** The columns of a transaction that carries operations; its signed bytes are long. */
export const carriers = transactions.pick("id", "hash", "status", "minedHash");

export type Carrying = RowOf<typeof carriers>;

/** Table `bundle_operation`: the transaction that carries an operation. */
export const bundled = table({ userOpHash: hex, attempts: int });

/** A new state of a transaction on the network or the chain. */
export const marks = table({
  /** Position of the new state in its batch. */
  place: int,
  id: text,
  hash: hex,
  /** The states that the transaction may be in. */
  expected: json(z.array(status)),
  status: oneOf(status),
  minedHash: nullable(hex),
  blockNumber: nullable(int8),
  at: time,
});
