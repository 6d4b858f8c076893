import { z } from "zod";
import { address, amountOut, chainId, id, timestamp } from "./common";
import { defineContract } from "./contract";
import { currencyRef, statementBody, statementPeriod } from "./global-accounts";

const tag = "Reserves";

const node = z.object({
  hash: z.string().meta({ description: "32 bytes, 0x hex" }),
  sumBase: z.string().meta({ description: "What the accounts below add up to, in base units" }),
});

export const reservesRecord = z
  .object({
    currency: z.string().meta({ description: "Symbol of the asset" }),
    assetId: z
      .string()
      .meta({ description: "The asset over all chains; the same on each chain" }),
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
    liabilities: amountOut.meta({ description: "What all accounts in the currency hold" }),
    inTransit: amountOut.meta({
      description:
        "What withdrawals took out of accounts and is neither paid nor returned; not a part of liabilities, because committed includes the money held for it",
    }),
    onChain: amountOut.meta({
      description:
        "The treasury's balance at the final blocks named below, of what backs accounts",
    }),
    committed: amountOut.meta({
      description: "What operations under way still take out of the treasury",
    }),
    available: amountOut.meta({
      description:
        "onChain less committed less liabilities: what can still be moved into accounts",
    }),
    covered: z
      .boolean()
      .meta({ description: "Whether onChain less committed is at least liabilities" }),
    chains: z
      .array(
        z.object({
          chainId,
          wallet: address.meta({ description: "Address of the treasury" }),
          amount: amountOut.meta({ description: "Its balance at the block" }),
          blockNumber: z
            .string()
            .meta({ description: "Number of the block, a decimal string" }),
          at: timestamp.meta({ description: "Time of the block" }),
          stale: z
            .boolean()
            .meta({ description: "The chain does not answer; nothing of it is counted" }),
          backs: z.boolean().meta({
            description:
              "False: the chain has no paymaster, so the treasury pays its network fees there in this coin; it backs no account and is not counted",
          }),
        }),
      )
      .meta({ description: "Balance of the treasury on each chain" }),
    root: node
      .extend({
        accounts: z.int().meta({ description: "Number of accounts in the tree" }),
        asOf: timestamp.meta({ description: "When the tree was built" }),
      })
      .nullable()
      .meta({ description: "Merkle sum tree over the accounts; null where there are none" }),
  })
  .meta({ id: "Reserves" });

export const getReserves = defineContract({
  method: "GET",
  path: "/reserves",
  summary:
    "Per currency: what the accounts hold against what the treasury holds on chain, at named blocks",
  description:
    "Compares what the ledger accounts hold with the balance of the treasury on chain, for each currency, and gives the root of a Merkle sum tree over the accounts.",
  tag,
  auth: "member",
  scope: "accounts:read",
  status: 200,
  response: z.object({
    data: z.array(reservesRecord).meta({ description: "One for each currency" }),
    asOf: timestamp.meta({ description: "When the answer was put together" }),
  }),
});

export const getReservesProof = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/proof",
  summary:
    "Shows that the account is counted in the reserves: its leaf and the way to the root; `npm run reserves:verify` checks it",
  description:
    "Gives an account's owner what is needed to check that the balance is a part of the published root. Verify it offline with `npm run reserves:verify`.",
  tag,
  auth: "member",
  scope: "accounts:read",
  params: z.object({ id: id("ga").meta({ description: "The account" }) }),
  status: 200,
  response: z.object({
    version: z.literal(1).meta({ description: "Version of the proof's format" }),
    assetId: z
      .string()
      .meta({ description: "The asset over all chains; the same on each chain" }),
    currency: z.string().meta({ description: "Symbol of the asset" }),
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
    accountId: id("ga").meta({ description: "The account" }),
    balanceBase: z.string().meta({ description: "Balance that is counted, in base units" }),
    salt: z.string().meta({
      description: "Keeps a neighbour from guessing the balance from the leaf's hash",
    }),
    index: z.int().meta({ description: "Position of the leaf in the tree, from 0" }),
    siblings: z
      .array(
        node.extend({
          side: z
            .enum(["left", "right"])
            .meta({ description: "On which side of the way the node stands" }),
        }),
      )
      .meta({ description: "Nodes on the way from the leaf to the root" }),
    root: node.meta({
      description: "Root of the tree; the same for all accounts of the currency",
    }),
    asOf: timestamp.meta({ description: "When the tree was built" }),
  }),
  errors: ["not_found", "invalid_state"],
});

const currency = z.object({ currency: currencyRef });

export const getReserveStatement = defineContract({
  method: "GET",
  path: "/reserves/{currency}/statement",
  summary: "Statement of the reserve account of a currency",
  description:
    "The ledger's other side of all accounts in the currency: fundings take from it, and paid withdrawals and reversals give back. Its balance is below zero by what the project owes to accounts and to withdrawals in transit. Covers the current month unless `from` and `to` are given.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params: currency,
  query: z.object(statementPeriod),
  status: 200,
  response: z.object({
    currency: z.string().meta({ description: "Symbol of the asset" }),
    assetId: z
      .string()
      .meta({ description: "The asset over all chains; the same on each chain" }),
    decimals: z
      .int()
      .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
    ...statementBody,
  }),
  errors: ["unsupported_token", "invalid_request"],
});

export const exportReserveStatement = defineContract({
  method: "GET",
  path: "/reserves/{currency}/statement/export",
  summary: "The statement of the reserve account as CSV (RFC 4180), with all entries",
  description:
    "Takes the same period as GET /reserves/{currency}/statement and answers a CSV download: the opening balance, a line for each entry, the closing balance. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params: currency,
  query: z.object(statementPeriod),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
  errors: ["unsupported_token", "invalid_request"],
});

export const exportReserveStatementCamt = defineContract({
  method: "GET",
  path: "/reserves/{currency}/statement/camt053",
  summary: "The statement of the reserve account as camt.053.001.08 (ISO 20022)",
  description:
    "Takes the same period as GET /reserves/{currency}/statement and answers an XML download for accounting software, with the rules of GET /global-accounts/{id}/statement/camt053. Changes nothing.",
  tag,
  mayBeOld: true,
  auth: "member",
  scope: "accounts:read",
  params: currency,
  query: z.object(statementPeriod),
  status: 200,
  response: z.string(),
  mediaType: "application/xml",
  errors: ["unsupported_token", "invalid_request", "amount_precision"],
});
