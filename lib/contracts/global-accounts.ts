import { z } from "zod";
import { amount, amountOut, id, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Global accounts";

export const currencyRef = z
  .string()
  .min(1)
  .max(40)
  .meta({ description: "An asset of the project: its symbol or assetId", examples: ["USDC"] });

const money = {
  currency: z.string().meta({ description: "Symbol of the asset" }),
  assetId: z.string(),
  decimals: z.int(),
};

export const accountRecord = z
  .object({
    id: id("ga"),
    ...money,
    name: z.string().nullable(),
    status: z.enum(["active", "frozen"]),
    balance: z
      .object({ available: amountOut, pending: amountOut, posted: amountOut })
      .meta({ description: "posted: what the entries add up to; pending: held; available: posted less pending" }),
    version: z.int(),
    createdAt: timestamp,
  })
  .meta({ id: "Account" });

const params = z.object({ id: id("ga") });

export const createGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts",
  summary: "Opens an account in one currency, with nothing in it",
  tag,
  auth: "member",
  scope: "accounts:write",
  body: z.object({ currency: currencyRef, name: z.string().trim().min(1).max(80).optional() }),
  status: 201,
  response: accountRecord,
  errors: ["unsupported_token"],
});

export const listGlobalAccounts = defineContract({
  method: "GET",
  path: "/global-accounts",
  summary: "Accounts of the project, newest first",
  tag,
  auth: "member",
  scope: "accounts:read",
  query: pageQuery.extend({
    currency: currencyRef.optional(),
    q: z.string().trim().min(1).max(80).optional().meta({ description: "A part of the name, or an id" }),
  }),
  status: 200,
  response: page(accountRecord),
});

export const getGlobalAccount = defineContract({
  method: "GET",
  path: "/global-accounts/{id}",
  summary: "One account and its balance",
  tag,
  auth: "member",
  scope: "accounts:read",
  params,
  status: 200,
  response: accountRecord,
  errors: ["not_found"],
});

export const fundGlobalAccount = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/fund",
  summary:
    "Moves reserves of the treasury into the account; what all accounts hold never exceeds what the treasury holds on chain",
  tag,
  auth: "member",
  scope: "accounts:write",
  params,
  body: z.object({ amount, currency: currencyRef }),
  status: 201,
  response: z.object({
    fundingId: id("fnd"),
    status: z.enum(["completed"]),
    accountId: id("ga"),
    amount: amountOut,
    ...money,
    transactionId: z.string(),
    balance: accountRecord.shape.balance,
    reserves: z.object({
      onChain: amountOut,
      committed: amountOut.meta({ description: "What operations under way still take out of the treasury" }),
      liabilities: amountOut.meta({ description: "What all accounts hold, this funding included" }),
    }),
    createdAt: timestamp,
  }),
  errors: ["not_found", "amount_precision", "insufficient_reserves", "chain_unavailable", "unsupported_token"],
});

export const reverseFunding = defineContract({
  method: "POST",
  path: "/global-accounts/{id}/reversals",
  summary:
    "Takes a funding back, while the account still has the money: the reserves are free again. By a person, once",
  tag,
  auth: "user",
  params,
  body: z.object({ transactionId: id("ltx").meta({ description: "The funding's" }) }),
  status: 201,
  response: z.object({
    transactionId: id("ltx"),
    reverses: id("ltx"),
    accountId: id("ga"),
    amount: amountOut.meta({ description: "What left the account" }),
    ...money,
    balance: accountRecord.shape.balance,
    createdAt: timestamp,
  }),
  errors: ["not_found", "invalid_state", "insufficient_balance"],
});

export const entryRecord = z
  .object({
    seq: z.int(),
    transactionId: z.string(),
    kind: z.string().meta({ description: "funding, transfer, payout, reversal …" }),
    amount: amountOut.meta({ description: "Signed: below zero is out" }),
    balanceAfter: amountOut,
    reference: z.string().nullable(),
    counterpartyId: z.string().nullable().meta({ description: "The other account, where there is just one" }),
    reversedBy: z.string().nullable().meta({ description: "The transaction that took this one back" }),
    createdAt: timestamp,
  })
  .meta({ id: "AccountEntry" });

export const listEntries = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/entries",
  summary: "Ledger entries of the account, newest first; never changed, only reversed",
  tag,
  auth: "member",
  scope: "accounts:read",
  params,
  query: pageQuery,
  status: 200,
  response: page(entryRecord),
  errors: ["not_found"],
});

const period = {
  from: timestamp.optional().meta({ description: "From this moment; default: the first of this month (UTC)" }),
  to: timestamp.optional().meta({ description: "Up to, and not with, this moment; default: now" }),
};

export const getStatement = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/statement",
  summary: "Opening balance, entries with running balance, closing balance; `format=csv` for RFC 4180",
  tag,
  auth: "member",
  scope: "accounts:read",
  params,
  query: z.object({ ...period, format: z.enum(["json", "csv"]).default("json") }),
  status: 200,
  response: z.object({
    account: accountRecord,
    from: timestamp,
    to: timestamp,
    opening: amountOut,
    entries: z.array(entryRecord).meta({ description: "Oldest first, 10,000 at most; `format=csv` has all of them" }),
    truncated: z.boolean(),
    in: amountOut,
    out: amountOut,
    closing: amountOut,
  }),
  errors: ["not_found", "invalid_request"],
});
