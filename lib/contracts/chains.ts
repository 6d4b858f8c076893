import { z } from "zod";
import { CHAIN_ID_MAX } from "@/lib/core/evm";
import { chainId, tokenRecord } from "./common";
import { defineContract } from "./contract";
import { poolRecord } from "./privacy-records";

const tag = "Chains and tokens";

export const listChains = defineContract({
  method: "GET",
  path: "/chains",
  summary: "The chains that the project may use",
  description:
    "The chains that this installation is configured for, with what a browser wallet needs to add them. Needs no credential.",
  tag,
  auth: "public",
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          id: chainId.meta({ description: "EIP-155 chain id" }),
          name: z.string().meta({ description: "Name of the chain" }),
          testnet: z.boolean().meta({ description: "Whether its coins have no value" }),
          nativeCurrency: z
            .object({
              name: z.string().meta({ description: "Name of the coin" }),
              symbol: z.string().meta({ description: "Symbol of the coin" }),
              decimals: z.int().meta({ description: "Decimals of the coin" }),
            })
            .meta({ description: "The chain's coin" }),
          rpcUrl: z.string().nullable().meta({
            description:
              "For browsers; null where the operator publishes none, and wallets use their own",
          }),
          explorerUrl: z.string().nullable().meta({
            description: "Page of the chain's explorer; null where the chain has none",
          }),
          confirmations: z.int().meta({
            description:
              "Depth, in blocks, at which a transaction counts as final; the usual depth where the chain has a final block of its own",
          }),
          blockTimeMs: z
            .int()
            .meta({ description: "Usual time between two blocks, in milliseconds" }),
          multicall3: z.string().meta({ description: "Address of Multicall3 on the chain" }),
          privacyPools: z.array(poolRecord).meta({
            description:
              "The chain's privacy pools, for software that recovers notes by mnemonic; empty where there are none",
          }),
          faucet: z.boolean().meta({ description: "Whether /dev/faucet gives tokens here" }),
        }),
      )
      .meta({ description: "Chains that the operator configured" }),
  }),
});

export const listChainHeads = defineContract({
  method: "GET",
  path: "/chains/heads",
  summary: "The newest block of each chain",
  description:
    "For pages that show that the chains go on. An answer may be some seconds old. Needs no credential.",
  tag,
  auth: "public",
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          chainId,
          block: z.int().nullable().meta({
            description:
              "Number of the newest block; null while the chain's node does not answer",
          }),
        }),
      )
      .meta({ description: "Chains that the operator configured" }),
  }),
});

export const listTokens = defineContract({
  method: "GET",
  path: "/tokens",
  summary: "The tokens that the project may use, with their price where it is known",
  description:
    "Tokens that can be named in quotes, transfers and payouts. Other tokens can be named by their address where the route allows it. Needs no credential.",
  tag,
  auth: "public",
  query: z.object({
    chainId: z.coerce
      .number()
      .int()
      .positive()
      .max(CHAIN_ID_MAX)
      .optional()
      .meta({ description: "Only tokens of this chain" }),
  }),
  status: 200,
  response: z.object({
    data: z
      .array(
        tokenRecord.extend({
          name: z.string().meta({ description: "Name of the token" }),
          caip19: z.string().meta({ description: "The token as a CAIP-19 asset id" }),
          usdPegged: z.boolean().meta({
            description: "Whether the operator configured that one token is one US dollar",
          }),
          priceUsd: z.string().nullable().meta({
            description:
              "Price of one unit in US dollars, a decimal string; null where it is not known",
          }),
        }),
      )
      .meta({ description: "Tokens of all chains" }),
  }),
  errors: ["unsupported_chain"],
});
