import { z } from "zod";
import { payoutWarning, walletsPayoutRecord } from "@/lib/contracts/payout-records";
import type { Token } from "@/lib/core/token";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { storedGasWaits, type GasWait } from "@/lib/modules/operations/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { storedAddress, storedBase, storedToken, toStored } from "@/lib/ports/routing-json";
import type { TokenTotal } from "./rows";

const fundFromSchema = z.union([
  z.literal("auto"),
  z.array(z.object({ walletId: z.string().optional(), chainId: z.int(), token: z.string() })),
]);

const fundingSchema = z.object({
  quoteId: z.string(),
  token: storedToken,
  missingBase: storedBase,
  /** The least amount that the funding operation brings. */
  minimumBase: storedBase,
  sources: z.array(z.object({ walletId: z.string(), token: storedToken, amountBase: storedBase })),
  fees: walletsPayoutRecord.shape.funding.unwrap().shape.fees,
  estimatedSeconds: z.int(),
});

export type PayoutWarning = z.output<typeof payoutWarning>;
export const WARNINGS_MAX = 100;

/** `auto`: the service chooses the sources. Otherwise these wallets, chains and tokens. */
export type FundFrom = z.output<typeof fundFromSchema>;

/** How the missing part of a token comes to the payout's chain. Amounts in base units. */
export type Funding = z.output<typeof fundingSchema>;

/** The part of a payout that only payouts to wallets have. */
export interface WalletPayout {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
  readonly fromAddress: EvmAddress;
  /** In the order of each token's first row. */
  readonly totals: readonly TokenTotal[];
  readonly warnings: readonly PayoutWarning[];
  /** The network fee in wei, as it was estimated before anything was sent. */
  readonly feeWei: bigint;
  readonly feePaidBy: "sponsor" | "wallet";
  /** Null: money of other chains may not be used. */
  readonly fundFrom: FundFrom | null;
  /** Null: nothing was missing on the chain. */
  readonly funding: Funding | null;
  /** The operation that brings the missing part before anything is paid. */
  readonly fundedBy: string | null;
  readonly scheduleId: string | null;
  /** Who asked for it, or made its schedule, as `actorName` gives it; null where a version before stored it. */
  readonly askedBy: string | null;
  /** The chain asks for a higher network fee than its cap, and no batch is signed until it falls. */
  readonly gasWaits: readonly GasWait[];
  /** As of `Payout`. */
  readonly unread?: boolean;
}

type Parsed = "fromAddress" | "totals" | "warnings" | "feeWei" | "feePaidBy" | "fundFrom" | "funding" | "gasWaits";

/** A row of the table `wallet_payout`. Its columns are parsed here and nowhere else. */
export interface WalletPayoutColumns extends Omit<WalletPayout, Parsed | "unread"> {
  readonly fromAddress: string;
  readonly totals: unknown;
  readonly warnings: unknown;
  readonly feeWei: Parameters<typeof toBigInt>[0];
  readonly feePaidBy: string;
  readonly fundFrom: unknown;
  readonly funding: unknown;
  readonly gasWaits: unknown;
}

const storedTotals = z.array(z.object({ token: storedToken, amountBase: storedBase, rows: z.int() }));
const storedWarnings = z.array(payoutWarning);
const storedPayer = z.enum(["sponsor", "wallet"]);
const storedFundFrom = fundFromSchema.nullable();
const storedFunding = fundingSchema.nullable();

/** Column `totals`, which payouts to wallets and their schedules have. @throws ZodError */
export const parseTotals = (totals: unknown): TokenTotal[] => storedTotals.parse(totals);

/** The stored form of a schedule's `fundFrom`. */
export const scheduledFundFrom = fundFromSchema.optional();

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseWalletPayout = (row: WalletPayoutColumns): WalletPayout => ({
  projectId: row.projectId,
  payoutId: row.payoutId,
  chainId: row.chainId,
  fromWalletId: row.fromWalletId,
  fromAddress: storedAddress.parse(row.fromAddress),
  totals: parseTotals(row.totals),
  warnings: storedWarnings.parse(row.warnings),
  feeWei: toBigInt(row.feeWei),
  feePaidBy: storedPayer.parse(row.feePaidBy),
  fundFrom: storedFundFrom.parse(row.fundFrom),
  funding: storedFunding.parse(row.funding),
  fundedBy: row.fundedBy,
  scheduleId: row.scheduleId,
  askedBy: row.askedBy,
  gasWaits: storedGasWaits.parse(row.gasWaits),
});

/** The columns that store the part of a payout which only payouts to wallets have. At most `WARNINGS_MAX` warnings are kept. */
export const walletPayoutColumns = ({
  totals,
  warnings,
  feeWei,
  fundFrom,
  funding,
  ...rest
}: Omit<WalletPayout, "gasWaits" | "unread">) => ({
  ...rest,
  totals: toStored(totals),
  warnings: toStored(warnings.slice(0, WARNINGS_MAX)),
  feeWei: toDecimal(feeWei),
  ...(fundFrom === null ? {} : { fundFrom: toStored(fundFrom) }),
  ...(funding === null ? {} : { funding: toStored(funding) }),
});

/** The token of a payout by the name that its rows use: the lower-case address, or `native`. */
export const tokenNamed = (totals: readonly TokenTotal[], name: string): Token => {
  const found = totals.find(({ token }) => token.address.toLowerCase() === name);
  if (found === undefined) throw new Error(`The payout has no total of ${name}.`);
  return found.token;
};
