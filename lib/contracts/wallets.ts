import { z } from "zod";
import { address, chainId, id, timestamp } from "./common";
import { defineContract } from "./contract";

export const walletRecord = z.object({
  id: id("wal"),
  kind: z.enum(["treasury", "smart_account", "linked"]),
  address,
  ownerAddress: address.optional(),
  label: z.string().optional(),
  chains: z.array(
    z.object({ chainId, deployed: z.boolean().nullable().meta({ description: "null: the chain did not answer" }) }),
  ),
  createdAt: timestamp,
});

export const listWallets = defineContract({
  method: "GET",
  path: "/wallets",
  summary: "Every wallet of the project: treasury, smart accounts, linked wallets",
  tag: "Wallets",
  auth: "member",
  scope: "wallets:read",
  status: 200,
  response: z.object({ data: z.array(walletRecord) }),
});
