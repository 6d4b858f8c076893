import { createHash } from "node:crypto";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import { rowKeyOf } from "../duplicate-rows";

export interface WalletRow {
  readonly recipient: EvmAddress;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly reference: string | null;
  readonly note: string | null;
}

export interface PlannedRow extends WalletRow {
  readonly batch: number;
}

/** The rows that one user operation pays: rows of one token, in the order of the request. */
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

export interface TokenTotal {
  readonly token: Token;
  readonly amountBase: bigint;
  readonly rows: number;
}

/**
 * The maximum number of rows in a batch. When all recipients are new (26,000 gas each), the gas
 * limits of a full batch are 80 % of the limit of a transaction (EIP-7825).
 */
export const ROWS_PER_BATCH = 400;

/** Returns the name of a token in balances and rows: its lower-case address, or `native`. */
export const tokenName = ({ address }: Pick<Token, "address">): string => address.toLowerCase();

/** Returns the totals in the order of the tokens' first rows. */
export const totalsOf = (rows: readonly WalletRow[]): TokenTotal[] => {
  const totals = new Map<string, TokenTotal>();
  for (const { token, amountBase } of rows) {
    const before = totals.get(token.address) ?? { token, amountBase: 0n, rows: 0 };
    totals.set(token.address, {
      token,
      amountBase: before.amountBase + amountBase,
      rows: before.rows + 1,
    });
  }
  return [...totals.values()];
};

/**
 * Divides rows into batches of one token each. The order of the rows of a token does not change.
 */
export const planBatches = (
  rows: readonly WalletRow[],
  rowsMax = ROWS_PER_BATCH,
): PayoutPlan => {
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
    batches[number] = {
      ...batch,
      rows: batch.rows + 1,
      amountBase: batch.amountBase + row.amountBase,
    };
    return { ...row, batch: number };
  });
  return { rows: planned, batches };
};

/** Returns the keys for the duplicate search, in the order of the rows. */
export const rowKeysOf = (rows: readonly WalletRow[]): string[] =>
  rows.map(({ recipient, token, amountBase, reference }) =>
    rowKeyOf({
      recipient,
      asset: `${String(token.chainId)}:${tokenName(token)}`,
      amountBase,
      reference,
    }),
  );

/** The parts of a request that a one-time code approves in addition to the rows. */
export interface ApprovedParts {
  readonly chainId: number;
  readonly fromAddress: EvmAddress;
  readonly reference: string | null;
  /**
   * The sources of money on other chains: `auto`, or a list. Null: only the treasury's money on the
   * payout's chain may be used.
   */
  readonly fundFrom: unknown;
  /** The account that funds the payout; null when the project funds it. */
  readonly accountId: string | null;
}

/**
 * SHA-256 of everything that a one-time code approves: the chain, the wallet that pays, the
 * reference, the sources on other chains, the account that funds the payout, and every row.
 */
export const walletsDigest = (
  parts: ApprovedParts,
  rows: readonly WalletRow[],
): Uint8Array<ArrayBuffer> => {
  const hash = createHash("sha256");
  // The digest includes the account only when the payout has one, so that the digests of payouts
  // that were stored before accounts could fund payouts stay the same.
  const accountIds = parts.accountId === null ? [] : [parts.accountId];
  hash.update(
    JSON.stringify([
      parts.chainId,
      parts.fromAddress,
      parts.reference,
      parts.fundFrom ?? null,
      ...accountIds,
    ]),
  );
  for (const { recipient, token, amountBase, reference, note } of rows)
    hash.update(
      JSON.stringify([recipient, tokenName(token), amountBase.toString(), reference, note]),
    );
  return new Uint8Array(hash.digest());
};
