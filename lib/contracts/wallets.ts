import { z } from "zod";
import { address, chainId, id, timestamp, walletSignature } from "./common";
import { defineContract } from "./contract";

const tag = "Wallets";

export const walletRecord = z
  .object({
    id: id("wal"),
    kind: z.enum(["treasury", "smart_account", "linked"]),
    address,
    ownerAddress: address.optional(),
    label: z.string().optional(),
    chains: z.array(
      z.object({ chainId, deployed: z.boolean().nullable().meta({ description: "null: the chain did not answer" }) }),
    ),
    signer: z
      .enum(["service", "owner"])
      .meta({ description: "Who signs what the wallet sends: the service, or its owner" }),
    createdAt: timestamp,
  })
  .meta({ id: "Wallet" });

export const listWallets = defineContract({
  method: "GET",
  path: "/wallets",
  summary: "Every wallet of the project: treasury, smart accounts, linked wallets",
  tag,
  auth: "member",
  scope: "wallets:read",
  status: 200,
  response: z.object({ data: z.array(walletRecord) }),
});

export const walletLabel = z.string().trim().min(1).max(80);

export const labelWallet = defineContract({
  method: "PATCH",
  path: "/wallets/{id}",
  summary: "Names a wallet; null takes the name away",
  tag,
  auth: "member",
  scope: "wallets:write",
  params: z.object({ id: id("wal") }),
  body: z.object({ label: walletLabel.nullable() }),
  status: 200,
  response: walletRecord,
  errors: ["not_found"],
});

const linkedWalletRecord = z
  .object({
    address,
    walletId: id("wal"),
    label: z.string().nullable(),
    contractChainId: chainId
      .nullable()
      .meta({ description: "The chain whose contract signs (ERC-1271, ERC-6492); null for a plain account" }),
    linkedAt: timestamp,
  })
  .meta({ id: "LinkedWallet" });

export const initWalletLink = defineContract({
  method: "POST",
  path: "/wallets/link/init",
  summary: "Makes the message (EIP-4361) that links a wallet once the wallet has signed it",
  tag,
  auth: "user",
  body: z.object({
    address,
    chainId: chainId.optional().meta({
      description:
        "The chain on which the wallet signs; matters for contract wallets. Default: the first configured chain",
    }),
  }),
  status: 200,
  response: z.object({ nonce: z.string(), message: z.string(), expiresAt: timestamp }),
  errors: ["unsupported_chain", "wallet_already_linked"],
});

export const verifyWalletLink = defineContract({
  method: "POST",
  path: "/wallets/link/verify",
  summary: "Links the wallet whose signature (EOA, ERC-1271 or ERC-6492) over the message of init this is",
  tag,
  auth: "user",
  body: z.object({ address, signature: walletSignature }),
  status: 200,
  response: z.object({ linked: z.boolean(), wallet: linkedWalletRecord }),
  errors: ["invalid_signature", "nonce_expired", "wallet_already_linked", "chain_unavailable"],
});

export const listLinkedWallets = defineContract({
  method: "GET",
  path: "/wallets/link",
  summary: "Wallets that the signed-in person linked to the project",
  tag,
  auth: "user",
  status: 200,
  response: z.object({ data: z.array(linkedWalletRecord) }),
});

export const unlinkWallet = defineContract({
  method: "DELETE",
  path: "/wallets/link/{address}",
  summary: "Unlinks a wallet; it is a source no more, and what it did stays on record",
  tag,
  auth: "user",
  params: z.object({ address }),
  status: 200,
  response: z.object({ address, unlinkedAt: timestamp }),
  errors: ["not_found", "invalid_state"],
});

export const createSmartAccount = defineContract({
  method: "POST",
  path: "/wallet/smart-account",
  summary: "The smart account (ERC-4337) of an owner: the same address on every chain, deployed by its first operation",
  tag,
  auth: "member",
  scope: "wallets:write",
  body: z.object({
    ownerAddress: address.meta({ description: "A linked wallet of the project, or the owner of its treasury" }),
    chainId,
    label: walletLabel.optional(),
  }),
  status: 201,
  response: z.object({
    id: id("wal"),
    address,
    ownerAddress: address,
    chainId,
    deployed: z.boolean().nullable().meta({ description: "null: the chain did not answer" }),
    factory: address,
    salt: z.string(),
    signer: walletRecord.shape.signer,
    createdAt: timestamp,
  }),
  errors: ["unsupported_chain", "unknown_wallet", "wallet_already_linked"],
});
