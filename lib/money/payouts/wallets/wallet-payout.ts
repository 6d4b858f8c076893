import { z } from "zod";
import { payoutWarning, walletsPayoutRecord } from "@/lib/contracts/payout-records";
import type { Token } from "@/lib/core/token";
import { toBigInt } from "@/lib/platform/db/decimal";
import { storedGasWaits, type GasWait } from "@/lib/money/operations/service";
import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress, storedBase, storedToken } from "@/lib/platform/db/codecs";
import {
  address,
  base,
  type Column,
  int,
  json,
  nullable,
  table,
  text,
} from "@/lib/platform/db/table";
import type { TokenTotal } from "./rows";

const fundFromSchema = z.union([
  z.literal("auto"),
  z.array(z.object({ walletId: z.string().optional(), chainId: z.int(), token: z.string() })),
]);

const fundingSchema = z.object({
  quoteId: z.string(),
  token: storedToken,
  missingBase: storedBase,
  /** The minimum amount that the funding operation brings. */
  minimumBase: storedBase,
  sources: z.array(
    z.object({ walletId: z.string(), token: storedToken, amountBase: storedBase }),
  ),
  fees: walletsPayoutRecord.shape.funding.unwrap().shape.fees,
  estimatedSeconds: z.int(),
});

export type PayoutWarning = z.output<typeof payoutWarning>;
export const WARNINGS_MAX = 100;

/**
 * Returns a JSON column for values of type `T`. The table that uses it only writes the column;
 * `parseWalletPayout` parses it.
 */
const written = <T>(): Column<T> => json(z.unknown()) as Column<T>;

/**
 * `auto`: the service chooses the sources of money. A list: only these wallets, chains and tokens
 * may be used.
 */
export type FundFrom = z.output<typeof fundFromSchema>;

/**
 * The plan that brings the missing amount of a token to the payout's chain. Amounts are in base
 * units.
 */
export type Funding = z.output<typeof fundingSchema>;

export interface WalletPayout {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
  readonly fromAddress: EvmAddress;
  /** The amounts by token, in the order of each token's first row. */
  readonly totals: readonly TokenTotal[];
  readonly warnings: readonly PayoutWarning[];
  /** The network fee in wei, as estimated before anything was sent. */
  readonly feeWei: bigint;
  readonly feePaidBy: "sponsor" | "wallet";
  /** The sources of money on other chains; null when such money may not be used. */
  readonly fundFrom: FundFrom | null;
  /** The plan that brings missing money to the chain. Null: no money was missing. */
  readonly funding: Funding | null;
  /**
   * The id of the operation that brings missing money. No row is paid before this operation has
   * completed. Null when there is none.
   */
  readonly fundedBy: string | null;
  readonly scheduleId: string | null;
  /**
   * The id of the user or API key that requested the payout or created its schedule, from
   * `actorName`.
   */
  readonly askedBy: string;
  /**
   * Not empty while the chain's network fee is above its configured cap. No batch is signed until
   * the fee falls.
   */
  readonly gasWaits: readonly GasWait[];
}

/** Table `wallet_payout`: the columns that are stored when a payout is created. */
export const newWalletPayouts = table({
  projectId: text,
  payoutId: text,
  chainId: int,
  fromWalletId: text,
  fromAddress: address,
  totals: written<readonly TokenTotal[]>(),
  warnings: written<readonly PayoutWarning[]>(),
  feeWei: base,
  feePaidBy: text,
  fundFrom: nullable(written<FundFrom>()),
  funding: nullable(written<Funding>()),
  fundedBy: nullable(text),
  scheduleId: nullable(text),
  askedBy: text,
});

type Parsed =
  | "fromAddress"
  | "totals"
  | "warnings"
  | "feeWei"
  | "feePaidBy"
  | "fundFrom"
  | "funding"
  | "gasWaits";

/** A row of the table `wallet_payout`, before `parseWalletPayout`. */
export interface WalletPayoutColumns extends Omit<WalletPayout, Parsed> {
  readonly fromAddress: string;
  readonly totals: unknown;
  readonly warnings: unknown;
  readonly feeWei: Parameters<typeof toBigInt>[0];
  readonly feePaidBy: string;
  readonly fundFrom: unknown;
  readonly funding: unknown;
  readonly gasWaits: unknown;
}

const storedTotals = z.array(
  z.object({ token: storedToken, amountBase: storedBase, rows: z.int() }),
);
const storedWarnings = z.array(payoutWarning);
const storedPayer = z.enum(["sponsor", "wallet"]);
const storedFundFrom = fundFromSchema.nullable();
const storedFunding = fundingSchema.nullable();

/**
 * Parses the column `totals`, which payouts to wallets and their schedules have.
 * @throws ZodError
 */
export const parseTotals = (totals: unknown): TokenTotal[] => storedTotals.parse(totals);

export const scheduledFundFrom = fundFromSchema.optional();

/**
 * Parses a row of the table `wallet_payout`.
 * @throws ZodError when a stored column does not have the shape that this version writes
 */
export const parseWalletPayout = (row: WalletPayoutColumns): WalletPayout => ({
  ...row,
  fromAddress: storedAddress.parse(row.fromAddress),
  totals: parseTotals(row.totals),
  warnings: storedWarnings.parse(row.warnings),
  feeWei: toBigInt(row.feeWei),
  feePaidBy: storedPayer.parse(row.feePaidBy),
  fundFrom: storedFundFrom.parse(row.fundFrom),
  funding: storedFunding.parse(row.funding),
  gasWaits: storedGasWaits.parse(row.gasWaits),
});

/** Finds a token of the payout by its name in rows: the lower-case address, or `native`. */
export const tokenNamed = (totals: readonly TokenTotal[], name: string): Token => {
  const found = totals.find(({ token }) => token.address.toLowerCase() === name);
  if (found === undefined) throw new Error(`The payout has no total of ${name}.`);
  return found.token;
};
