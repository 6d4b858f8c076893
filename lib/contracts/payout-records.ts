/** Payouts and their rows in responses, and the words for their kinds and states. */
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
import { outcomeRecord } from "./outcome";
import { quoteRecord } from "./quote-records";
import {
  PAYOUT_MODES,
  PAYOUT_ITEM_STATUSES,
  WALLET_ROW_STATUSES,
} from "@/lib/core/payout-facts";
import { RECIPIENT_WARNINGS, recipientWarning } from "./warnings";

const payoutBase = z.object({
  id: id("po").meta({ description: "Id of the payout" }),
  payoutId: id("po").meta({ description: "The same as `id`" }),
  mode: z
    .enum(PAYOUT_MODES)
    .meta({ description: "`atomic`: all rows or none. `independent`: each row by itself" }),
  status,
  subStatus,
  reference: z
    .string()
    .nullable()
    .meta({ description: "Reference of the whole payout; null where none was given" }),
  failure: failureRecord
    .nullable()
    .meta({ description: "Why it failed; null where it did not" }),
  retryOf: id("po")
    .nullable()
    .meta({ description: "The payout whose failed rows this one tries again" }),
  evaluationId: id("evl").nullable().meta({
    description: "The evaluation of the policies that let it run; null before it may run",
  }),
  usd: z.string().nullable().meta({
    description:
      "Worth of all rows in US dollars as the policies recorded it, else of tokens that are dollars by configuration; null where neither is known",
  }),
  outcome: outcomeRecord,
  nextAction: z.string().meta({ description: "The same as `nextAction` of `outcome`" }),
  may: z
    .object({
      approve: z.boolean().meta({ description: "Whether POST …/approve is possible" }),
      cancel: z.boolean().meta({ description: "Whether POST …/cancel is possible" }),
      retry: z.boolean().meta({ description: "Whether POST …/retry is possible" }),
    })
    .meta({ description: "What can be asked of it now" }),
  createdBy: z.string().meta({
    description: "Who created it: a person (usr_), an API key (key_) or a part of the service",
  }),
  createdAt: timestamp.meta({ description: "When it was created" }),
  updatedAt: timestamp.meta({ description: "When it last changed" }),
  expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
});

const accountRowCounts = z
  .object({
    total: z.int().meta({ description: "All rows" }),
    pending: z.int().meta({ description: "Rows that are not decided yet" }),
    completed: z.int().meta({ description: "Rows that are paid" }),
    failed: z.int().meta({ description: "Rows that failed" }),
  })
  .meta({ id: "AccountsPayoutRowCounts" });

export const accountsPayoutRecord = payoutBase
  .extend({
    kind: z
      .literal("global_accounts")
      .meta({ description: "Always `global_accounts`: between accounts of the project" }),
    sourceAccountId: id("ga").meta({ description: "Account that pays" }),
    currency: z.string().meta({ description: "Symbol of the asset" }),
    assetId: z
      .string()
      .meta({ description: "The asset over all chains; the same on each chain" }),
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
    total: amountOut.meta({ description: "Sum of all rows" }),
    paid: amountOut.meta({ description: "Sum of the rows that are paid" }),
    items: accountRowCounts.meta({ description: "Numbers of rows by status" }),
  })
  .meta({ id: "AccountsPayout" });

const walletRowCounts = z
  .object({
    total: z.int().meta({ description: "All rows" }),
    queued: z.int().meta({ description: "Rows that were not sent yet" }),
    sent: z.int().meta({ description: "Rows whose transaction was broadcast" }),
    confirmed: z
      .int()
      .meta({ description: "Rows that are mined, and not yet at the chain's final depth" }),
    paid: z.int().meta({ description: "Rows that are final" }),
    failed: z.int().meta({ description: "Rows that failed; the money did not leave" }),
    unknown: z.int().meta({
      description: "Rows that were offered to the chain and are neither paid nor failed yet",
    }),
    cancelled: z.int().meta({ description: "Rows that were cancelled before they were sent" }),
  })
  .meta({ id: "PayoutRowCounts" });

export const payoutWarning = recipientWarning
  .extend({
    code: z.enum([...RECIPIENT_WARNINGS, "duplicate_row"]).meta({
      description:
        "As of a recipient; `duplicate_row`: an equal payment was made a short time ago, or stands twice",
    }),
  })
  .meta({ id: "PayoutWarning" });

const payoutTotal = z
  .object({
    token: tokenRecord.meta({ description: "The token" }),
    amount: amountOut.meta({ description: "Sum of the token's rows" }),
    paid: amountOut.meta({ description: "Sum of the token's rows that are paid" }),
    rows: z.int().meta({ description: "Number of rows" }),
  })
  .meta({ id: "PayoutTotal" });

const payoutDoubt = z
  .object({
    batch: z.int().meta({ description: "Number of the transaction that carries the rows" }),
    rows: z.int().meta({ description: "Number of rows" }),
    amount: amountOut.meta({ description: "Sum of the rows" }),
    token: tokenRecord.meta({ description: "The token" }),
  })
  .meta({ id: "PayoutDoubt" });

const payoutNetworkFee = z
  .object({
    token: tokenRecord.meta({ description: "The chain's coin" }),
    amount: amountOut.meta({
      description: "Estimated until every batch is settled, then what was paid",
    }),
    usd: z.string().nullable().meta({
      description: "Value in US dollars, a decimal string; null where no price is known",
    }),
    paidBy: z
      .enum(["sponsor", "wallet"])
      .meta({ description: "Who pays: the project's sponsor, or the wallet" }),
    estimated: z
      .boolean()
      .meta({ description: "Whether a part of the amount is still an estimate" }),
  })
  .meta({ id: "PayoutNetworkFee" });

const fundingSource = z
  .object({
    walletId: id("wal").meta({ description: "Wallet of the project" }),
    chainId,
    token: tokenRecord.meta({ description: "The token" }),
    amount: amountOut.meta({ description: "What leaves this source" }),
  })
  .meta({ id: "PayoutFundingSource" });

const payoutFunding = z
  .object({
    token: tokenRecord.meta({ description: "The token" }),
    missing: amountOut.meta({
      description: "What the chain lacked when the payout was planned",
    }),
    minimum: amountOut.meta({ description: "The least that arrives on the chain" }),
    sources: z
      .array(fundingSource)
      .meta({ description: "The wallets and chains that it comes from" }),
    fees: quoteRecord.shape.fees.meta({ description: "Fees of bringing it" }),
    estimatedSeconds: z
      .int()
      .meta({ description: "Expected time from execute to arrival, in seconds" }),
  })
  .meta({ id: "PayoutFunding" });

export const walletsPayoutRecord = payoutBase
  .extend({
    kind: z
      .literal("wallets")
      .meta({ description: "Always `wallets`: to addresses on a chain" }),
    chainId,
    fromWalletId: id("wal").meta({ description: "Treasury that pays" }),
    fromAddress: address.meta({ description: "Address of the treasury" }),
    account: z
      .object({
        accountId: id("ga").meta({ description: "Account that bears the payments" }),
        amount: amountOut.meta({ description: "What it bears: the sum of all rows" }),
        paid: amountOut.meta({ description: "Of it, what left the treasury for good" }),
        returned: amountOut.meta({ description: "Of it, what the account got back" }),
        inTransit: amountOut.meta({
          description: "Of it, what was taken out of the account and is neither yet",
        }),
      })
      .meta({ id: "WithdrawalAccount" })
      .nullable()
      .meta({ description: "Of a withdrawal; null where the project bears the payments" }),
    totals: z
      .array(payoutTotal)
      .meta({ description: "For each token, in the order of its first row" }),
    items: walletRowCounts.meta({ description: "Numbers of rows by status" }),
    batches: z
      .object({
        total: z.int().meta({ description: "Transactions that the rows are divided into" }),
        settled: z.int().meta({ description: "Transactions that are final" }),
      })
      .meta({ description: "Transactions that carry the rows" }),
    doubts: z.array(payoutDoubt).meta({
      description:
        "Failed batches that another operation may have paid; POST …/doubt-decision settles them",
    }),
    networkFee: payoutNetworkFee
      .nullable()
      .meta({ description: "Network fee of all batches; null before it is known" }),
    warnings: z
      .array(payoutWarning)
      .meta({ description: "At most 100; of rows that are accepted all the same" }),
    fundFrom: z
      .enum(["auto", "sources"])
      .nullable()
      .meta({ description: "How the missing part is brought to the chain; null: it is not" }),
    funding: payoutFunding.nullable().meta({
      description:
        "What brings the missing part to the chain first; null where nothing is missing",
    }),
    fundedBy: id("op")
      .nullable()
      .meta({ description: "The operation that brings the missing part to the chain first" }),
    scheduleId: id("sch")
      .nullable()
      .meta({ description: "Schedule that started the payout; null where none did" }),
  })
  .meta({ id: "WalletsPayout" });

/** One schema for both kinds; `kind` determines which fields are set. */
export const payoutRecord = z
  .discriminatedUnion("kind", [accountsPayoutRecord, walletsPayoutRecord])
  .meta({ id: "Payout" });

export const accountsPayoutItem = z
  .object({
    kind: z.literal("global_accounts").meta({ description: "Always `global_accounts`" }),
    index: z.int().meta({ description: "Position of the row in the request, from 0" }),
    recipientAccountId: id("ga").meta({ description: "Account that is paid" }),
    amount: amountOut.meta({ description: "Amount of the row" }),
    currency: z.string().meta({ description: "Symbol of the asset" }),
    reference: z
      .string()
      .nullable()
      .meta({ description: "Your own reference; null where none was given" }),
    status: z.enum(PAYOUT_ITEM_STATUSES).meta({ description: "How far the row is" }),
    transactionId: z
      .string()
      .nullable()
      .meta({ description: "Ledger transaction that paid it; null where it is not paid" }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
  })
  .meta({ id: "AccountsPayoutItem" });

export const walletsPayoutItem = z
  .object({
    kind: z.literal("wallets").meta({ description: "Always `wallets`" }),
    index: z.int().meta({ description: "Position of the row in the request, from 0" }),
    address,
    amount: amountOut.meta({ description: "Amount of the row" }),
    amountBase: z
      .string()
      .meta({ description: "The same amount as an integer string of base units" }),
    token: tokenRecord.meta({ description: "The token" }),
    reference: z
      .string()
      .nullable()
      .meta({ description: "Your own reference; null where none was given" }),
    note: z.string().nullable().meta({ description: "Only this project sees it" }),
    status: z.enum(WALLET_ROW_STATUSES).meta({
      description:
        "How far the row is. `unknown` is neither failed nor paid, and no retry touches it",
    }),
    batch: z.int().meta({ description: "Number of the transaction that carries it, from 0" }),
    txHash: hex
      .nullable()
      .meta({ description: "Hash of the transaction, 32 bytes; null where none was sent yet" }),
    blockNumber: z.string().nullable().meta({
      description: "Number of the block, a decimal string; null where it is not mined",
    }),
    confirmations: z
      .object({
        have: z.int().meta({ description: "Confirmations that it has" }),
        need: z.int().meta({ description: "Confirmations at which it is final" }),
      })
      .nullable()
      .meta({ description: "Depth of the transaction; null before it is mined" }),
    explorerUrl: z
      .string()
      .nullable()
      .meta({ description: "Page of the chain's explorer; null where the chain has none" }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
  })
  .meta({ id: "WalletsPayoutItem" });
