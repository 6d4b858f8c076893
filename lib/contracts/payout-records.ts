/** Payouts and their rows as they are read, and the words for their kinds and states. */
import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
  failureRecord,
  hex,
  id,
  status,
  subStatus,
  timestamp,
  tokenRecord,
} from "./common";
import { quoteRecord } from "./quote-records";

export const PAYOUT_ROWS_MAX = 10_000;
export const PAYOUT_KINDS = ["global_accounts", "wallets"] as const;
export const PAYOUT_MODES = ["atomic", "independent"] as const;
export const PAYOUT_ITEM_STATUSES = ["pending", "completed", "failed"] as const;
/**
 * `unknown`: it was offered to the chain, and whether it was taken is not known yet; neither failed nor paid.
 * `confirmed`: mined, and not yet at the depth that the chain's configuration asks for.
 */
export const WALLET_ROW_STATUSES = ["queued", "sent", "confirmed", "paid", "failed", "unknown", "cancelled"] as const;
/** Statuses of rows of both kinds; each payout's rows have those of its own kind. */
export const ROW_STATUSES = [
  ...PAYOUT_ITEM_STATUSES.filter((each) => each !== "failed"),
  ...WALLET_ROW_STATUSES,
] as const;

const payoutBase = z.object({
  payoutId: id("po"),
  mode: z.enum(PAYOUT_MODES),
  status,
  subStatus,
  reference: z.string().nullable(),
  failure: failureRecord.nullable(),
  retryOf: id("po").nullable().meta({ description: "The payout whose failed rows this one tries again" }),
  nextAction: z.string(),
  may: z
    .object({ approve: z.boolean(), cancel: z.boolean(), retry: z.boolean() })
    .meta({ description: "What can be asked of it now" }),
  createdBy: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
  expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
});

const accountRowCounts = z
  .object({ total: z.int(), pending: z.int(), completed: z.int(), failed: z.int() })
  .meta({ id: "AccountsPayoutRowCounts" });

export const accountsPayoutRecord = payoutBase
  .extend({
    kind: z.literal("global_accounts"),
    sourceAccountId: id("ga"),
    currency: z.string(),
    assetId: z.string(),
    decimals: z.int(),
    total: amountOut,
    paid: amountOut,
    items: accountRowCounts,
  })
  .meta({ id: "AccountsPayout" });

const walletRowCounts = z
  .object({
    total: z.int(),
    queued: z.int(),
    sent: z.int(),
    confirmed: z.int(),
    paid: z.int(),
    failed: z.int(),
    unknown: z.int(),
    cancelled: z.int(),
  })
  .meta({ id: "PayoutRowCounts" });

export const payoutWarning = z
  .object({
    code: z.enum(["lookalike_recipient", "code_elsewhere", "duplicate_row"]),
    index: z.int().meta({ description: "Of the row" }),
    message: z.string(),
  })
  .meta({ id: "PayoutWarning" });

const payoutTotal = z
  .object({ token: tokenRecord, amount: amountOut, paid: amountOut, rows: z.int() })
  .meta({ id: "PayoutTotal" });

const payoutNetworkFee = z
  .object({
    token: tokenRecord,
    amount: amountOut.meta({ description: "Estimated until every batch is settled, then what was paid" }),
    usd: z.string().nullable(),
    paidBy: z.enum(["sponsor", "wallet"]),
    estimated: z.boolean(),
  })
  .meta({ id: "PayoutNetworkFee" });

const fundingSource = z
  .object({ walletId: id("wal"), chainId, token: tokenRecord, amount: amountOut })
  .meta({ id: "PayoutFundingSource" });

const payoutFunding = z
  .object({
    token: tokenRecord,
    missing: amountOut.meta({ description: "What the chain lacked when the payout was planned" }),
    minimum: amountOut.meta({ description: "The least that arrives on the chain" }),
    sources: z.array(fundingSource),
    fees: quoteRecord.shape.fees,
    estimatedSeconds: z.int(),
  })
  .meta({ id: "PayoutFunding" });

export const walletsPayoutRecord = payoutBase
  .extend({
    kind: z.literal("wallets"),
    chainId,
    fromWalletId: id("wal"),
    fromAddress: address,
    totals: z.array(payoutTotal).meta({ description: "For each token, in the order of its first row" }),
    items: walletRowCounts,
    batches: z.object({ total: z.int(), settled: z.int() }).meta({ description: "Transactions that carry the rows" }),
    networkFee: payoutNetworkFee.nullable(),
    warnings: z.array(payoutWarning).meta({ description: "At most 100; of rows that are accepted all the same" }),
    fundFrom: z.enum(["auto", "sources"]).nullable(),
    funding: payoutFunding
      .nullable()
      .meta({ description: "What brings the missing part to the chain first; null where nothing is missing" }),
    fundedBy: id("op")
      .nullable()
      .meta({ description: "The operation that brings the missing part to the chain first" }),
    scheduleId: id("sch").nullable(),
  })
  .meta({ id: "WalletsPayout" });

/** One list for both kinds: `kind` tells which fields it has. */
export const payoutRecord = z
  .discriminatedUnion("kind", [accountsPayoutRecord, walletsPayoutRecord])
  .meta({ id: "Payout" });

export const accountsPayoutItem = z
  .object({
    kind: z.literal("global_accounts"),
    index: z.int(),
    recipientAccountId: id("ga"),
    amount: amountOut,
    currency: z.string(),
    reference: z.string().nullable(),
    status: z.enum(PAYOUT_ITEM_STATUSES),
    transactionId: z.string().nullable(),
    failure: failureRecord.nullable(),
  })
  .meta({ id: "AccountsPayoutItem" });

export const walletsPayoutItem = z
  .object({
    kind: z.literal("wallets"),
    index: z.int(),
    address,
    amount: amountOut,
    amountBase: z.string(),
    token: tokenRecord,
    reference: z.string().nullable(),
    note: z.string().nullable().meta({ description: "Only this project sees it" }),
    status: z.enum(WALLET_ROW_STATUSES),
    batch: z.int().meta({ description: "Number of the transaction that carries it, from 0" }),
    txHash: hex.nullable(),
    blockNumber: z.string().nullable(),
    confirmations: z.object({ have: z.int(), need: z.int() }).nullable(),
    explorerUrl: z.string().nullable(),
    failure: failureRecord.nullable(),
  })
  .meta({ id: "WalletsPayoutItem" });
