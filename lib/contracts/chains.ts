import { z } from "zod";
import { chainId, tokenRecord } from "./common";
import { defineContract } from "./contract";

const tag = "Chains and tokens";

export const listChains = defineContract({
  method: "GET",
  path: "/chains",
  summary: "The chains that the project may use",
  tag,
  auth: "public",
  status: 200,
  response: z.object({
    data: z.array(
      z.object({
        id: chainId,
        name: z.string(),
        testnet: z.boolean(),
        nativeCurrency: z.object({ name: z.string(), symbol: z.string(), decimals: z.int() }),
        rpcUrl: z
          .string()
          .nullable()
          .meta({ description: "For browsers; null where the operator publishes none, and wallets use their own" }),
        explorerUrl: z.string().nullable(),
        confirmations: z.int(),
        blockTimeMs: z.int(),
        multicall3: z.string(),
        faucet: z.boolean().meta({ description: "Whether /dev/faucet gives tokens here" }),
      }),
    ),
  }),
});

export const listTokens = defineContract({
  method: "GET",
  path: "/tokens",
  summary: "The tokens that the project may use, with their price where it is known",
  tag,
  auth: "public",
  query: z.object({ chainId: z.coerce.number().int().positive().optional() }),
  status: 200,
  response: z.object({
    data: z.array(tokenRecord.extend({ name: z.string(), caip19: z.string(), priceUsd: z.string().nullable() })),
  }),
});
