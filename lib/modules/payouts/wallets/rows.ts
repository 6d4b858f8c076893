import { createHash } from "node:crypto";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/ports/routing";
import { rowKeyOf } from "../duplicate-rows";

/** A row of the request after its checks. */
export interface WalletRow {
  readonly recipient: EvmAddress;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly reference: string | null;
  readonly note: string | null;
}

/** A row, and the number of the batch that carries it. */
export interface PlannedRow extends WalletRow {
  readonly batch: number;
}

/** The rows of one user operation: rows of one token, in their order. */
export interface PlannedBatch {
  readonly number: number;
  readonly token: Token;
  readonly rows: number;
  readonly amountBase: bigint;
}

export interface PayoutPlan {
  /** The rows in the order of the request. */
  readonly rows: readonly PlannedRow[];
  readonly batches: readonly PlannedBatch[];
}

/** The sum that a payout pays in one token. */
export interface TokenTotal {
  readonly token: Token;
  readonly amountBase: bigint;
  readonly rows: number;
}

/** The most rows of one batch. With new recipients (26,000 gas each) the gas limits are 80 % of a transaction's limit (EIP-7825). */
export const ROWS_PER_BATCH = 400;

/** The name of a token in balances and rows: the lower-case address, or `native`. */
export const tokenName = ({ address }: Pick<Token, "address">): string => address.toLowerCase();

/** The total of each token, in the order of its first row. */
export const totalsOf = (rows: readonly WalletRow[]): TokenTotal[] => {
  const totals = new Map<string, TokenTotal>();
  for (const { token, amountBase } of rows) {
    const before = totals.get(token.address) ?? { token, amountBase: 0n, rows: 0 };
    totals.set(token.address, { token, amountBase: before.amountBase + amountBase, rows: before.rows + 1 });
  }
  return [...totals.values()];
};

/** Cuts rows into batches of one token each; each token's rows keep their order. */
export const planBatches = (rows: readonly WalletRow[], rowsMax = ROWS_PER_BATCH): PayoutPlan => {
  const batches: PlannedBatch[] = [];
  const open = new Map<string, number>();
  const planned = rows.map((row): PlannedRow => {
    const { address } = row.token;
    let number = open.get(address);
    let batch = number === undefined ? undefined : batches[number];
    if (number === undefined || batch === undefined || batch.rows >= rowsMax) {
      number = batches.length;
      batch = { number, token: row.token, rows: 0, amountBase: 0n };
      open.set(address, number);
    }
    batches[number] = { ...batch, rows: batch.rows + 1, amountBase: batch.amountBase + row.amountBase };
    return { ...row, batch: number };
  });
  return { rows: planned, batches };
};

/** The id of a batch's hold, and of its reservation in the sponsor's budget. */
export const holdIdOf = (payoutId: string, number: number): string => `${payoutId}/${String(number)}`;

/** Keys for the search for duplicate payments, in the order of the rows. */
export const rowKeysOf = (rows: readonly WalletRow[]): string[] =>
  rows.map(({ recipient, token, amountBase, reference }) =>
    rowKeyOf({ recipient, asset: `${String(token.chainId)}:${tokenName(token)}`, amountBase, reference }),
  );

/** The parts of a payout that a one-time code approves in addition to the rows. */
export interface ApprovedParts {
  readonly chainId: number;
  readonly fromAddress: EvmAddress;
  readonly reference: string | null;
  /** `auto`, or the sources; null when no money of other chains may be used. */
  readonly fundFrom: unknown;
  /** The account that bears the payments; null: the project. */
  readonly accountId: string | null;
}

/** SHA-256 of everything that a one-time code approves: the chain, the wallet that pays, every row, and how the chain is funded. */
export const walletsDigest = (parts: ApprovedParts, rows: readonly WalletRow[]): Uint8Array<ArrayBuffer> => {
  const hash = createHash("sha256");
  // A payout that no account bears keeps the digest that it had before accounts could.
  const borneBy = parts.accountId === null ? [] : [parts.accountId];
  hash.update(JSON.stringify([parts.chainId, parts.fromAddress, parts.reference, parts.fundFrom ?? null, ...borneBy]));
  for (const { recipient, token, amountBase, reference, note } of rows)
    hash.update(JSON.stringify([recipient, tokenName(token), amountBase.toString(), reference, note]));
  return new Uint8Array(hash.digest());
};
