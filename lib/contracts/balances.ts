import { z } from "zod";
import {
  address,
  amountOut,
  chainId,
  id,
  longPageQuery,
  timestamp,
  tokenRecord,
} from "./common";
import { defineContract } from "./contract";

export const getBalanceHistory = defineContract({
  method: "GET",
  path: "/balances/history",
  summary: "What the project held, hour by hour (beyond 30 days day by day), oldest first",
  description:
    "Snapshots of the project's balances for a chart. Changes nothing and asks no chain.",
  tag: "Balances",
  auth: "member",
  scope: "balances:read",
  query: z.object({
    days: z.coerce
      .number()
      .int()
      .min(1)
      .max(365)
      .default(30)
      .meta({ description: "How many days back, 1–365" }),
  }),
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          takenAt: timestamp.meta({ description: "When the balances were read" }),
          totalUsd: z.string().nullable().meta({
            description:
              "Value of everything in US dollars, a decimal string; null where no price is known",
          }),
          assets: z
            .array(
              z.object({
                assetId: z
                  .string()
                  .meta({ description: "The asset over all chains; the same on each chain" }),
                token: z.string().meta({ description: "Symbol of the asset" }),
                amount: amountOut,
                usd: z.string().nullable().meta({
                  description:
                    "Value in US dollars, a decimal string; null where no price is known",
                }),
              }),
            )
            .meta({ description: "Totals by asset" }),
        }),
      )
      .meta({ description: "Snapshots, oldest first" }),
  }),
});

const usd = z.string().nullable().meta({
  description:
    "Value of the balance in US dollars, a decimal string; null where no price is known",
});

const parts = {
  amount: amountOut.meta({ description: "Balance on chain, in units of the token" }),
  amountBase: z
    .string()
    .meta({ description: "The same amount as an integer string of base units" }),
  available: amountOut.meta({
    description:
      "What may be moved now: `amount` without `backing`, `reserved`, `pendingOut` and `quarantined`, at least 0. Sums are what may be moved over all their places together, which may be less than the sum of the places",
  }),
  backing: amountOut.meta({
    description:
      "Part of `amount` that stays in the treasury, because it backs global accounts (GET /reserves)",
  }),
  reserved: amountOut.meta({
    description: "Part of `amount` that is held for what was accepted and not sent yet",
  }),
  pendingOut: amountOut.meta({
    description: "Part of `amount` that was sent and is not mined in this block",
  }),
  quarantined: amountOut.meta({
    description:
      "Part of `amount` that came from senders whom a screening stopped, and waits for a person",
  }),
  pendingIn: amountOut.meta({
    description:
      "On its way to the wallets by operations of the project, and not part of `amount`: the minimum that arrives, or the refund that is due",
  }),
};

export const getUnifiedBalances = defineContract({
  method: "GET",
  path: "/balances/unified",
  summary: "One balance over all chains and wallets of the project",
  description:
    "Reads balances of all wallets on all chains and adds them up by asset. Sums are those of all wallets; `breakdown` lists up to 1,000 wallets that hold something, and the next ones with `cursor`. A chain that does not answer is named in `stale`; the other chains are shown all the same.",
  tag: "Balances",
  auth: "member",
  scope: "balances:read",
  query: longPageQuery("Wallets"),
  status: 200,
  response: z.object({
    totals: z
      .array(
        z.object({
          token: z.string().meta({ description: "Symbol of the asset" }),
          assetId: z
            .string()
            .meta({ description: "The asset over all chains; the same on each chain" }),
          ...parts,
          decimals: z
            .int()
            .meta({ description: "Decimals of the token: one unit is 10^decimals base units" }),
          usd,
          chains: z.array(z.object({ chainId, ...parts, usd })).meta({
            description:
              "The sums of all wallets on each chain; base units are those of the sum",
          }),
          breakdown: z
            .array(
              z.object({
                chainId,
                walletId: id("wal").meta({ description: "Wallet of the project" }),
                address,
                token: tokenRecord.meta({ description: "The token" }),
                ...parts,
                usd,
              }),
            )
            .meta({ description: "The balances of the wallets on this page" }),
        }),
      )
      .meta({ description: "One for each asset" }),
    nextCursor: z.string().nullable().meta({
      description:
        "Goes into `cursor` to list the balances of further wallets; null where there are no more",
    }),
    totalUsd: z.string().nullable().meta({
      description:
        "Value of everything in US dollars, a decimal string; null where no price is known",
    }),
    asOf: z
      .array(
        z.object({
          chainId,
          blockNumber: z
            .string()
            .meta({ description: "Number of the block, a decimal string" }),
          at: timestamp.meta({ description: "When it was read" }),
        }),
      )
      .meta({ description: "The block of each chain at which balances were read" }),
    stale: z
      .array(
        z.object({
          chainId,
          reason: z.string().meta({ description: "Why the chain could not be read" }),
          lastSeenAt: timestamp
            .nullable()
            .meta({ description: "When the chain was last read; null: never" }),
        }),
      )
      .meta({
        description: "Chains that do not answer; their last known balances are counted",
      }),
  }),
});
