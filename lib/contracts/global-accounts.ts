import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { amount, amountOut, id, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";
import { displayName } from "./names";

const tag = "Global accounts";

export const currencyRef = z
  .string()
  .min(1)
  .max(40)
  .meta({ description: "An asset of the project: its symbol or assetId", examples: ["USDC"] });

const money = {
  currency: z.string().meta({ description: "Symbol of the asset" }),
  assetId: z
    .string()
    .meta({ description: "The asset over all chains; the same on each chain" }),
  decimals: z
    .int()
    .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
};

export const accountRecord = z
  .object({
    id: id("ga").meta({ description: "Id of the account" }),
    ...money,
    name: z
      .string()
      .nullable()
      .meta({ description: "Name of the account; null where it has none" }),
    status: z.enum(["active", "frozen", "closed"]).meta({
      description:
        "`frozen`: nothing goes in or out; `closed`: the same, for ever, and it is empty",
    }),
    statusReason: z.string().nullable().meta({
      description:
        "Why it is frozen or closed; null while it is active, or where no reason was given",
    }),
    balance: z
      .object({
        available: amountOut.meta({ description: "What can be paid out: posted less pending" }),
        pending: amountOut.meta({
          description:
            "What payouts from the account that await approval, are queued or are being paid will still take; at most `posted`",
        }),
        posted: amountOut.meta({ description: "Sum of the ledger entries" }),
      })
      .meta({
        description:
          "posted: what the entries add up to; pending: what open payouts will take of it; available: posted less pending",
      }),
    version: z.int().meta({ description: "Counts up with each entry" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  })
  .meta({ id: "Account" });

const params = z.object({ id: id("ga").meta({ description: "Id in the path" }) });

export const createGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts",
  summary: "Opens an account in one currency, with nothing in it",
  description:
    "Opens a ledger account for a customer. It holds nothing until it is funded. No wallet is created and nothing happens on a chain. Send an Idempotency-Key, otherwise a repeated call opens a second account.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "accounts:write",
  body: z.object({
    currency: currencyRef,
    name: displayName(80).optional().meta({ description: "Name for people, 1–80 characters" }),
  }),
  status: 201,
  response: accountRecord,
  errors: ["unsupported_token"],
});

export const listGlobalAccounts = defineContract({
  method: "GET",
  path: "/global-accounts",
  summary: "Accounts of the project, newest first",
  description: "Lists accounts with their balances. Read further pages with `cursor`.",
  tag,
  auth: "member",
  scope: "accounts:read",
  query: pageQuery.extend({
    currency: currencyRef.optional().meta({ description: "Only accounts in this currency" }),
    q: z
      .string()
      .trim()
      .min(1)
      .max(80)
      .optional()
      .meta({ description: "A part of the name, or an id" }),
  }),
  status: 200,
  response: page(accountRecord),
  errors: ["unsupported_token"],
});

export const getGlobalAccount = defineContract({
  method: "GET",
  path: "/global-accounts/{id}",
  summary: "One account and its balance",
  description: "Reads the balance as of the newest ledger entry. Changes nothing.",
  tag,
  auth: "member",
  scope: "accounts:read",
  params,
  status: 200,
  response: accountRecord,
  errors: ["not_found"],
});

const accountName = displayName(80);
const reason = z.string().trim().min(1).max(200);

export const updateGlobalAccount = defineContract({
  method: "PATCH",
  path: "/global-accounts/{id}",
  summary: "Renames an account",
  description:
    "Changes the name that people see. The balance and the entries stay as they are.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "accounts:write",
  params,
  body: z.object({
    name: accountName
      .nullable()
      .meta({ description: "The new name, 1–80 characters; null takes it away" }),
  }),
  status: 200,
  response: accountRecord,
  errors: ["not_found"],
});

export const freezeGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/freeze",
  summary: "Stops payments to and from an account",
  description:
    "Nothing is posted to or from a frozen account; rows of open payouts that name it fail. Its balance stays. A frozen account stays as it is, with the first reason.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "accounts:write",
  params,
  body: z.object({
    reason: reason.meta({
      description: "Why it is frozen, 1–200 characters; people of the project see it",
    }),
  }),
  status: 200,
  response: accountRecord,
  errors: ["not_found", "invalid_state"],
});

export const unfreezeGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/unfreeze",
  summary:
    "Lets a frozen account pay and be paid again; needs an approval (409 approval_required)",
  description:
    "For owners and admins. Answers 409 `approval_required` first; send it again with `approval`. An account that is active already stays as it is.",
  tag,
  auth: "user",
  permission: "policies:manage",
  params,
  body: z.object({ approval: givenApproval.optional() }),
  status: 200,
  response: accountRecord,
  errors: [...APPROVAL_ERRORS, "forbidden", "not_found"],
});

export const closeGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/close",
  summary: "Closes an empty account for ever, by a person",
  description:
    "Nothing can be posted to or from a closed account, and it cannot be opened again. Its entries and statements stay readable. An account that holds money answers 409 `invalid_state`.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  body: z.object({
    reason: reason.optional().meta({ description: "Why it is closed, 1–200 characters" }),
  }),
  status: 200,
  response: accountRecord,
  errors: ["not_found", "invalid_state"],
});

export const fundGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/fund",
  summary:
    "Moves reserves of the treasury into the account; what all accounts hold never exceeds what the treasury holds on chain",
  description:
    "Assigns a part of the treasury's money to the account in the ledger. Nothing moves on a chain and there is no fee. It is refused with 422 `insufficient_reserves` where all accounts together would hold more than the treasury. Send an Idempotency-Key, otherwise a repeated call funds again.",
  tag,
  auth: "member",
  permission: "money:move",
  scope: "accounts:write",
  params,
  body: z.object({ amount, currency: currencyRef }),
  status: 201,
  response: z.object({
    id: id("fnd").meta({ description: "Id of the funding" }),
    fundingId: id("fnd").meta({ description: "The same as `id`" }),
    status: z
      .enum(["completed"])
      .meta({ description: "Always `completed`: the entry is posted when the answer comes" }),
    accountId: id("ga").meta({ description: "The funded account" }),
    amount: amountOut.meta({ description: "What came into the account" }),
    ...money,
    transactionId: z
      .string()
      .meta({ description: "Ledger transaction; POST …/reversals takes it back" }),
    balance: accountRecord.shape.balance.meta({
      description: "Balance of the account afterwards",
    }),
    reserves: z
      .object({
        onChain: amountOut.meta({ description: "What the treasury holds on chain" }),
        committed: amountOut.meta({
          description: "What operations under way still take out of the treasury",
        }),
        liabilities: amountOut.meta({
          description: "What all accounts hold, this funding included",
        }),
      })
      .meta({ description: "What backs the accounts, at this moment" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  }),
  errors: [
    "not_found",
    "amount_precision",
    "insufficient_reserves",
    "chain_unavailable",
    "unsupported_token",
    "invalid_state",
  ],
});

export const reverseFunding = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/reversals",
  summary:
    "Takes a funding back, while the account still has the money: the reserves are free again. By a person, once",
  description:
    "Corrects a funding: the money leaves the account and backs other accounts again. Nothing moves on a chain. A funding can be reversed once, and only while the account has enough available and is not frozen.",
  tag,
  auth: "user",
  permission: "money:move",
  params,
  body: z.object({ transactionId: id("ltx").meta({ description: "The funding's" }) }),
  status: 201,
  response: z.object({
    id: id("ltx").meta({ description: "Id of the reversal, which is a ledger transaction" }),
    reverses: id("ltx").meta({ description: "Ledger transaction that was taken back" }),
    accountId: id("ga").meta({ description: "The account" }),
    amount: amountOut.meta({ description: "What left the account" }),
    ...money,
    balance: accountRecord.shape.balance.meta({
      description: "Balance of the account afterwards",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  }),
  errors: ["not_found", "invalid_state", "insufficient_balance"],
});

export const entryRecord = z
  .object({
    seq: z.int().meta({ description: "1, 2, 3 … in the account, without a gap" }),
    transactionId: z
      .string()
      .meta({ description: "Ledger transaction that the entry is a part of" }),
    kind: z
      .string()
      .meta({ description: "funding, payout, withdrawal, withdrawal_return, reversal …" }),
    amount: amountOut.meta({ description: "Signed: below zero is out" }),
    balanceAfter: amountOut.meta({
      description: "Posted balance of the account after this entry",
    }),
    reference: z
      .string()
      .nullable()
      .meta({ description: "Your own reference; null where none was given" }),
    counterpartyId: z
      .string()
      .nullable()
      .meta({ description: "The other account, where there is just one" }),
    counterpartyName: z
      .string()
      .nullable()
      .meta({ description: "Its name today; null where it has none" }),
    payoutId: id("po")
      .nullable()
      .meta({ description: "The payout that caused it; null for other kinds" }),
    reverses: z.string().nullable().meta({
      description: "The transaction that this one takes back; null where it takes none",
    }),
    reversedBy: z
      .string()
      .nullable()
      .meta({ description: "The transaction that took this one back" }),
    createdAt: timestamp.meta({ description: "When it was posted" }),
  })
  .meta({ id: "AccountEntry" });

export const listEntries = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/entries",
  summary: "Ledger entries of the account, newest first; never changed, only reversed",
  description:
    "Each change of the balance with the balance after it. Entries are never changed; a mistake is corrected by a reversal, which is an entry of its own.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params,
  query: pageQuery,
  status: 200,
  response: page(entryRecord),
  errors: ["not_found"],
});

/** The period of a statement, in its query. */
export const statementPeriod = {
  from: timestamp
    .optional()
    .meta({ description: "From this moment; default: the first of this month (UTC)" }),
  to: timestamp
    .optional()
    .meta({ description: "Up to, and not with, this moment; default: now" }),
};

/** The fields that every statement has about its period. */
export const statementBody = {
  from: timestamp.meta({ description: "Begin of the period" }),
  to: timestamp.meta({ description: "End of the period, exclusive" }),
  opening: amountOut.meta({ description: "Balance at the begin of the period" }),
  entries: z
    .array(entryRecord)
    .meta({ description: "Oldest first, 10,000 at most; the export has all of them" }),
  truncated: z.boolean().meta({ description: "Whether there are more than 10,000 entries" }),
  in: amountOut.meta({ description: "Sum of what came in during the period" }),
  out: amountOut.meta({ description: "Sum of what went out during the period" }),
  closing: amountOut.meta({ description: "Balance at the end of the period" }),
};

export const getStatement = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/statement",
  summary: "Opening balance, entries with running balance, closing balance",
  description:
    "Covers the current month unless `from` and `to` are given. Opening balance plus entries is the closing balance. GET /global-accounts/{id}/statement/export has all entries in one file.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params,
  query: z.object(statementPeriod),
  status: 200,
  response: z.object({
    account: accountRecord.meta({ description: "The account as it is now" }),
    ...statementBody,
  }),
  errors: ["not_found", "invalid_request"],
});

export const exportStatement = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/statement/export",
  summary:
    "The statement as CSV (RFC 4180), with all entries; cells are safe to open in a spreadsheet",
  description:
    "Takes the same period as GET /global-accounts/{id}/statement and answers a CSV download: the opening balance, a line for each entry, the closing balance. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params,
  query: z.object(statementPeriod),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
  errors: ["not_found", "invalid_request"],
});

export const exportStatementCamt = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/statement/camt053",
  summary: "The statement as camt.053.001.08 (ISO 20022), with all entries",
  description:
    "Takes the same period as GET /global-accounts/{id}/statement and answers an XML download for accounting software: opening balance (OPBD), each entry, closing balance (CLBD). Dollar tokens are written as USD; an asset without an ISO 4217 code is refused with 400. The standard allows 5 decimals: a statement with a finer amount is refused with 422 `amount_precision`, because nothing is rounded. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params,
  query: z.object(statementPeriod),
  status: 200,
  response: z.string(),
  mediaType: "application/xml",
  errors: ["not_found", "invalid_request", "amount_precision"],
});
