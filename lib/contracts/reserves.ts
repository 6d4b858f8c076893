import { z } from "zod";
import { address, amountOut, chainId, id, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Reserves";

const node = z.object({
  hash: z.string().meta({ description: "32 bytes, 0x hex" }),
  sumBase: z.string().meta({ description: "What the accounts below add up to, in base units" }),
});

export const reservesRecord = z
  .object({
    currency: z.string(),
    assetId: z.string(),
    decimals: z.int(),
    liabilities: amountOut,
    onChain: amountOut.meta({
      description: "The treasury's balance at the final blocks named below, of what backs accounts",
    }),
    committed: amountOut.meta({ description: "What operations under way still take out of the treasury" }),
    available: amountOut.meta({
      description: "onChain less committed less liabilities: what can still be moved into accounts",
    }),
    covered: z.boolean(),
    chains: z.array(
      z.object({
        chainId,
        wallet: address,
        amount: amountOut,
        blockNumber: z.string(),
        at: timestamp,
        stale: z.boolean().meta({ description: "The chain does not answer; nothing of it is counted" }),
        backs: z.boolean().meta({
          description:
            "False: the chain has no paymaster, so the treasury pays its network fees there in this coin; it backs no account and is not counted",
        }),
      }),
    ),
    root: node
      .extend({ accounts: z.int(), asOf: timestamp })
      .nullable()
      .meta({ description: "Merkle sum tree over the accounts; null where there are none" }),
  })
  .meta({ id: "Reserves" });

export const getReserves = defineContract({
  method: "GET",
  path: "/reserves",
  summary: "Per currency: what the accounts hold against what the treasury holds on chain, at named blocks",
  tag,
  auth: "member",
  scope: "accounts:read",
  status: 200,
  response: z.object({ data: z.array(reservesRecord), asOf: timestamp }),
});

export const getReservesProof = defineContract({
  method: "GET",
  path: "/global-accounts/{id}/proof",
  summary:
    "Shows that the account is counted in the reserves: its leaf and the way to the root; `npm run reserves:verify` checks it",
  tag,
  auth: "member",
  scope: "accounts:read",
  params: z.object({ id: id("ga") }),
  status: 200,
  response: z.object({
    version: z.literal(1),
    assetId: z.string(),
    currency: z.string(),
    decimals: z.int(),
    accountId: id("ga"),
    balanceBase: z.string(),
    salt: z.string().meta({ description: "Keeps a neighbour from guessing the balance from the leaf's hash" }),
    index: z.int(),
    siblings: z.array(node.extend({ side: z.enum(["left", "right"]) })),
    root: node,
    asOf: timestamp,
  }),
  errors: ["not_found"],
});
