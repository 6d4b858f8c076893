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
  isTimeZone,
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

const COUNTERPARTY = /^(0x[0-9a-fA-F]{40}|(ga|pw)_[0-9a-f-]{36}|several|none)$/;

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
  counterparty: z
    .string()
    .regex(
      COUNTERPARTY,
      "must be an address, the id of an account or private wallet, several or none",
    )
    .optional()
    .meta({
      description:
        "Only those with this counterparty: an address, the id of an account (ga_) or private wallet (pw_), `several` for payouts with several recipients, or `none` where none is known",
    }),
  assetId: z.string().min(1).max(120).optional().meta({
    description:
      "Only those that send this asset, and deposits of it; ids as GET /tokens shows",
  }),
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

export const SUMMARY_GROUPINGS = ["counterparty", "token", "tag", "month"] as const;

/** Names of the IANA database; PostgreSQL reads an offset such as `+01:00` the other way round. */
const ZONE_NAME = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;

const movedSum = z
  .object({
    usd: amountOut.nullable().meta({
      description:
        "US dollars as each movement was priced when it was recorded; null where money moved and none of it has a price",
    }),
    amount: amountOut.nullable().meta({
      description: "By token: the exact amount of the asset. Null for other groupings",
    }),
  })
  .meta({ id: "MovedSum" });

const summaryGroup = z
  .object({
    key: z.string().nullable().meta({
      description:
        "Counterparty as in the filter `counterparty`, asset id, tag in lower case, or month such as 2026-01; null for movements without a tag",
    }),
    label: z.string().meta({ description: "Name of the group" }),
    count: z.int().meta({ description: "How many movements it has, internal ones included" }),
    in: movedSum.meta({ description: "What came into the project" }),
    out: movedSum.meta({ description: "What left the project" }),
    unpriced: z.int().meta({
      description:
        "How many movements in or out have no recorded price; the sums in US dollars leave them out",
    }),
    filter: z.record(z.string(), z.string()).nullable().meta({
      description:
        "Query of GET /activity that lists exactly these movements; null where no filter can, as for missing tags",
    }),
  })
  .meta({ id: "ActivitySummaryGroup" });

export const summarizeActivity = defineContract({
  method: "GET",
  path: "/activity/summary",
  summary: "What came in and went out, by counterparty, token, tag or month",
  description:
    "Sums the movements that GET /activity lists to the same caller with the same filters. Without `status` only what moved money counts (`completed` and `partially_completed`), without `from` the 12 months before `to`, and without `to` everything until now. Deposits came in; operations and payouts to addresses outside of the project went out. Movements between wallets, private wallets and accounts of the project are counted in `count`, and are neither in nor out. Of a movement that partly completed only the part that moved is summed. A payout with several recipients counts as a whole. A movement with several tags, or in several tokens, is in several groups. Months are listed newest first, other groups by the money that they moved; up to 200 groups. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "operations:read",
  query: z.object({
    by: z.enum(SUMMARY_GROUPINGS).meta({ description: "What the groups are" }),
    timeZone: z
      .string()
      .max(60)
      .regex(ZONE_NAME, "must be a time zone such as Europe/Berlin or UTC")
      .refine(isTimeZone, "must be a time zone such as Europe/Berlin or UTC")
      .default("UTC")
      .meta({ description: "IANA name of the time zone in which months begin" }),
    ...activityFilters,
  }),
  status: 200,
  response: z
    .object({
      by: z.enum(SUMMARY_GROUPINGS).meta({ description: "What the groups are" }),
      from: timestamp.meta({ description: "Counted are movements created at or after" }),
      to: timestamp.meta({ description: "Counted are movements created before" }),
      data: z.array(summaryGroup).meta({ description: "The groups" }),
      cut: z.int().meta({ description: "How many further groups there are" }),
    })
    .meta({ id: "ActivitySummary" }),
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
