import { z } from "zod";
import { address, amountOut, chainId, id, timestamp, tokenRecord } from "./common";
import { defineContract } from "./contract";

export const getBalanceHistory = defineContract({
  method: "GET",
  path: "/balances/history",
  summary: "What the project held, hour by hour (beyond 30 days day by day), oldest first",
  tag: "Balances",
  auth: "member",
  scope: "balances:read",
  query: z.object({ days: z.coerce.number().int().min(1).max(365).default(30) }),
  status: 200,
  response: z.object({
    data: z.array(
      z.object({
        takenAt: timestamp,
        totalUsd: z.string().nullable(),
        assets: z.array(
          z.object({ assetId: z.string(), token: z.string(), amount: amountOut, usd: z.string().nullable() }),
        ),
      }),
    ),
  }),
});

export const getUnifiedBalances = defineContract({
  method: "GET",
  path: "/balances/unified",
  summary: "One balance over all chains and wallets of the project",
  tag: "Balances",
  auth: "member",
  scope: "balances:read",
  status: 200,
  response: z.object({
    totals: z.array(
      z.object({
        token: z.string().meta({ description: "Symbol of the asset" }),
        assetId: z.string(),
        amount: amountOut,
        amountBase: z.string(),
        decimals: z.int(),
        usd: z.string().nullable(),
        breakdown: z.array(
          z.object({
            chainId,
            walletId: id("wal"),
            address,
            token: tokenRecord,
            amount: amountOut,
            amountBase: z.string(),
            usd: z.string().nullable(),
          }),
        ),
      }),
    ),
    totalUsd: z.string().nullable(),
    asOf: z.array(z.object({ chainId, blockNumber: z.string(), at: timestamp })),
    stale: z.array(z.object({ chainId, reason: z.string(), lastSeenAt: timestamp.nullable() })),
  }),
});
