import { z } from "zod";
import { address, amountOut, chainId, id, timestamp, tokenRecord } from "./common";
import { defineContract } from "./contract";

export const getBalanceHistory = defineContract({
  method: "GET",
  path: "/balances/history",
  summary: "What the project held, hour by hour (beyond 30 days day by day), oldest first",
  description: "Snapshots of the project's balances for a chart. Changes nothing and asks no chain.",
  tag: "Balances",
  auth: "member",
  scope: "balances:read",
  query: z.object({
    days: z.coerce.number().int().min(1).max(365).default(30).meta({ description: "How many days back, 1–365" }),
  }),
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          takenAt: timestamp.meta({ description: "When the balances were read" }),
          totalUsd: z
            .string()
            .nullable()
            .meta({ description: "Value of everything in US dollars, a decimal string; null where no price is known" }),
          assets: z
            .array(
              z.object({
                assetId: z.string().meta({ description: "The asset over all chains; the same on each chain" }),
                token: z.string().meta({ description: "Symbol of the asset" }),
                amount: amountOut,
                usd: z
                  .string()
                  .nullable()
                  .meta({ description: "Value in US dollars, a decimal string; null where no price is known" }),
              }),
            )
            .meta({ description: "Totals by asset" }),
        }),
      )
      .meta({ description: "Snapshots, oldest first" }),
  }),
});

export const getUnifiedBalances = defineContract({
  method: "GET",
  path: "/balances/unified",
  summary: "One balance over all chains and wallets of the project",
  description:
    "Reads balances of all wallets on all chains and adds them up by asset. A chain that does not answer is named in `stale`; the other chains are shown all the same.",
  tag: "Balances",
  auth: "member",
  scope: "balances:read",
  status: 200,
  response: z.object({
    totals: z
      .array(
        z.object({
          token: z.string().meta({ description: "Symbol of the asset" }),
          assetId: z.string().meta({ description: "The asset over all chains; the same on each chain" }),
          amount: amountOut.meta({ description: "Sum over all chains and wallets, in units of the token" }),
          amountBase: z.string().meta({ description: "The same amount as an integer string of base units" }),
          decimals: z.int().meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
          usd: z
            .string()
            .nullable()
            .meta({ description: "Value in US dollars, a decimal string; null where no price is known" }),
          breakdown: z
            .array(
              z.object({
                chainId,
                walletId: id("wal").meta({ description: "Wallet of the project" }),
                address,
                token: tokenRecord.meta({ description: "The token" }),
                amount: amountOut.meta({ description: "Balance of this wallet on this chain" }),
                amountBase: z.string().meta({ description: "The same amount as an integer string of base units" }),
                usd: z
                  .string()
                  .nullable()
                  .meta({ description: "Value in US dollars, a decimal string; null where no price is known" }),
              }),
            )
            .meta({ description: "The balances that make up the sum" }),
        }),
      )
      .meta({ description: "One for each asset" }),
    totalUsd: z
      .string()
      .nullable()
      .meta({ description: "Value of everything in US dollars, a decimal string; null where no price is known" }),
    asOf: z
      .array(
        z.object({
          chainId,
          blockNumber: z.string().meta({ description: "Number of the block, a decimal string" }),
          at: timestamp.meta({ description: "When it was read" }),
        }),
      )
      .meta({ description: "The block of each chain at which balances were read" }),
    stale: z
      .array(
        z.object({
          chainId,
          reason: z.string().meta({ description: "Why the chain could not be read" }),
          lastSeenAt: timestamp.nullable().meta({ description: "When the chain was last read; null: never" }),
        }),
      )
      .meta({ description: "Chains that do not answer; their last known balances are counted" }),
  }),
});
