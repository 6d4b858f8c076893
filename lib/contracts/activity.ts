/**
 * One list of everything that moved money: operations, payouts, and credits and debits of accounts.
 */
import { z } from "zod";
import {
  address,
  amountOut,
  chainIds,
  id,
  idsOf,
  listOf,
  page,
  pageQuery,
  status,
  subStatus,
  timestamp,
  createdBetween,
} from "./common";
import { STATUSES } from "@/lib/core/status";
import { defineContract } from "./contract";
import { OPERATION_KINDS } from "./operation-records";
import { tagsOut } from "./tags";

const tag = "Operations";

export const ACTIVITY_KINDS = [
  ...OPERATION_KINDS,
  "payout_to_wallets",
  "payout_to_accounts",
  "funding",
  "funding_reversal",
] as const;

const movedAmount = z
  .object({
    amount: amountOut,
    token: z
      .object({
        symbol: z.string().meta({ description: "Symbol of the token or asset" }),
        assetId: z.string().meta({ description: "The asset over all chains" }),
        decimals: z.int().meta({ description: "The most digits after the point" }),
        chainId: z
          .int()
          .nullable()
          .meta({ description: "EIP-155 chain id; null for money in accounts" }),
      })
      .meta({ description: "What the amount is of" }),
  })
  .meta({ id: "MovedAmount" });

const accountParty = z
  .object({
    type: z.literal("account").meta({ description: "An account of the project" }),
    accountId: id("ga").meta({ description: "Id of the account" }),
    name: z.string().nullable().meta({ description: "Its name; null where it has none" }),
  })
  .meta({ id: "AccountParty" });

const activityParty = z
  .discriminatedUnion("type", [
    z
      .object({
        type: z.literal("address").meta({ description: "An address on a chain" }),
        address,
      })
      .meta({ id: "AddressParty" }),
    accountParty,
    z
      .object({
        type: z
          .literal("private_wallet")
          .meta({ description: "A private wallet of the project" }),
        privacyWalletId: id("pw").meta({ description: "Id of the private wallet" }),
      })
      .meta({ id: "PrivateWalletParty" }),
    z
      .object({
        type: z.literal("recipients").meta({ description: "Several recipients of a payout" }),
        count: z.int().meta({ description: "How many rows the payout has" }),
      })
      .meta({ id: "RecipientsParty" }),
  ])
  .meta({ id: "ActivityParty" });

export const activityRecord = z
  .object({
    id: z.union([id("op"), id("po"), id("ltx")]).meta({
      description:
        "Id of the operation (op_), the payout (po_) or the ledger transaction (ltx_)",
    }),
    kind: z.enum(ACTIVITY_KINDS).meta({ description: "What it is" }),
    status,
    subStatus,
    sent: z.array(movedAmount).meta({
      description:
        "What leaves its sources, or was to leave them; one for each source or token",
    }),
    received: movedAmount.nullable().meta({
      description:
        "What arrived so far; null for a payout in several tokens, whose rows tell it",
    }),
    minimum: movedAmount
      .nullable()
      .meta({ description: "What an operation brings at least; null for other kinds" }),
    source: accountParty
      .nullable()
      .meta({ description: "The account that pays; null where a wallet or the reserves do" }),
    counterparty: activityParty.nullable().meta({
      description:
        "Who receives it; of a deposit, who sent it. Null where no chain tells it, and for a reversal",
    }),
    reference: z.string().nullable().meta({
      description: "Your reference of a payout; null where none was given, and for other kinds",
    }),
    transferId: id("tr")
      .nullable()
      .meta({ description: "Of a private operation, its id under /privacy/transfers" }),
    usd: amountOut.nullable().meta({
      description:
        "What was sent, in US dollars, as its record was priced then; null where no price was recorded",
    }),
    memo: z.string().meta({ description: "What people noted; empty where they noted nothing" }),
    tags: tagsOut,
    createdBy: z.string().meta({
      description: "Who began it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it began, or was found" }),
  })
  .meta({ id: "Activity" });

const activityFilters = {
  status: listOf(STATUSES)
    .optional()
    .meta({ description: "Only these statuses, separated by commas" }),
  kind: listOf(ACTIVITY_KINDS)
    .optional()
    .meta({ description: "Only these kinds, separated by commas" }),
  chainId: chainIds.optional().meta({
    description:
      "On one of these chains, separated by commas. Movements between accounts are on none",
  }),
  walletId: idsOf("wal").optional().meta({
    description:
      "Only what one of these wallets pays, and deposits into them, separated by commas",
  }),
  ...createdBetween,
  q: z.string().trim().min(1).max(120).optional().meta({
    description:
      "An id, a 0x address, a transaction hash, a token symbol, or a part of a memo, tag, reference or account name. Of recipients of payouts, the newest 100,000 rows are searched",
  }),
  tag: z
    .string()
    .trim()
    .min(1)
    .max(32)
    .optional()
    .meta({ description: "Only those with this tag, in any case" }),
};

export const listActivity = defineContract({
  method: "GET",
  path: "/activity",
  summary:
    "Everything that moved money, newest first: operations, payouts, and fundings of accounts",
  description:
    "One list of swaps, transfers, deposits, private operations, payouts, fundings of accounts and their reversals. With an API key, payouts need the scope `payouts:read` too, accounts `accounts:read`, and private operations `privacy:read`; what it may not read is left out. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "operations:read",
  query: pageQuery.extend(activityFilters),
  status: 200,
  response: page(activityRecord),
});

export const exportActivity = defineContract({
  method: "GET",
  path: "/activity/export",
  summary:
    "The same list as CSV (RFC 4180), 10,000 movements at most; cells are safe to open in a spreadsheet",
  description:
    "Takes the same filters as GET /activity and answers a CSV download with a line for each amount that was sent. What was received and its worth stand on the first line of each movement. `title` is a payout's reference, or its amounts and the number of its recipients. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "operations:read",
  query: z.object(activityFilters),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
});
