import { z } from "zod";
import { address, amountOut, chainId, id, timestamp, tokenRecord } from "./common";
import { defineContract } from "./contract";

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
