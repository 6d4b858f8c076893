import { z } from "zod";
import {
  address,
  chainId,
  id,
  listOf,
  longPageQuery,
  page,
  timestamp,
  walletSignature,
} from "./common";
import { defineContract } from "./contract";
import { displayName } from "./names";

const tag = "Wallets";

const WALLET_KINDS = ["treasury", "smart_account", "linked"] as const;

export const walletRecord = z
  .object({
    id: id("wal").meta({ description: "Id of the wallet, for `fromWalletId`" }),
    kind: z.enum(WALLET_KINDS).meta({
      description:
        "`treasury`: managed by the service. `smart_account`: ERC-4337, owned by a linked wallet. `linked`: a wallet of a person",
    }),
    address,
    ownerAddress: address.optional().meta({ description: "Owner of a smart account" }),
    label: z.string().optional().meta({ description: "Name for people" }),
    chains: z
      .array(
        z.object({
          chainId,
          deployed: z
            .boolean()
            .nullable()
            .meta({ description: "null: the chain did not answer" }),
        }),
      )
      .meta({ description: "Chains that the wallet can be used on" }),
    signer: z
      .enum(["service", "owner"])
      .meta({ description: "Who signs what the wallet sends: the service, or its owner" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  })
  .meta({ id: "Wallet" });

export const listWallets = defineContract({
  method: "GET",
  path: "/wallets",
  summary: "The wallets of the project, oldest first: treasury, smart accounts, linked wallets",
  description:
    "Wallets that quotes and transfers may take money from, with the chains on which they are deployed. Up to 1,000 on a page; `address` finds one wallet.",
  tag,
  auth: "member",
  scope: "wallets:read",
  query: longPageQuery("Wallets").extend({
    address: address.optional().meta({ description: "Only the wallet with this address" }),
    kind: listOf(WALLET_KINDS)
      .optional()
      .meta({ description: "Only these kinds, separated by commas" }),
  }),
  status: 200,
  response: page(walletRecord),
});

export const walletLabel = displayName(80);

export const labelWallet = defineContract({
  method: "PATCH",
  path: "/wallets/{id}",
  summary: "Names a wallet; null takes the name away",
  description: "Changes how the wallet is shown to people. Moves nothing.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "wallets:write",
  params: z.object({ id: id("wal").meta({ description: "The wallet" }) }),
  body: z.object({
    label: walletLabel
      .nullable()
      .meta({ description: "New name, 1–80 characters; null takes the name away" }),
  }),
  status: 200,
  response: walletRecord,
  errors: ["not_found"],
});

const linkedWalletRecord = z
  .object({
    address,
    walletId: id("wal").meta({ description: "Wallet of the project" }),
    label: z
      .string()
      .nullable()
      .meta({ description: "Name for people; null where it has none" }),
    contractChainId: chainId.nullable().meta({
      description:
        "The chain whose contract signs (ERC-1271, ERC-6492); null for a plain account",
    }),
    linkedAt: timestamp.meta({ description: "When it was linked" }),
  })
  .meta({ id: "LinkedWallet" });

export const initWalletLink = defineContract({
  method: "POST",
  path: "/wallets/link/init",
  summary: "Makes the message (EIP-4361) that links a wallet once the wallet has signed it",
  description:
    "First step of linking. Let the wallet sign `message` exactly as it is, and send the signature to POST /wallets/link/verify within 10 minutes. The message allows no transaction.",
  tag,
  auth: "user",
  permission: "records:write",
  body: z.object({
    address,
    chainId: chainId.optional().meta({
      description:
        "The chain on which the wallet signs; matters for contract wallets. Default: the first configured chain",
    }),
  }),
  status: 200,
  response: z.object({
    nonce: z.string().meta({ description: "Nonce of the message" }),
    message: z.string().meta({ description: "The EIP-4361 message that the wallet signs" }),
    expiresAt: timestamp.meta({ description: "Until when it can be verified" }),
  }),
  errors: ["unsupported_chain", "wallet_already_linked"],
});

export const verifyWalletLink = defineContract({
  method: "POST",
  path: "/wallets/link/verify",
  summary:
    "Links the wallet whose signature (EOA, ERC-1271 or ERC-6492) over the message of init this is",
  description:
    "Second step of linking. The wallet becomes a source for quotes; its owner signs each move. Linking one's own wallet again succeeds.",
  tag,
  auth: "user",
  permission: "records:write",
  body: z.object({
    address,
    signature: walletSignature.meta({
      description: "Signature over the message of init, 0x hex",
    }),
  }),
  status: 200,
  response: z.object({
    linked: z.boolean().meta({ description: "Always true; a wrong signature is an error" }),
    wallet: linkedWalletRecord.meta({ description: "The linked wallet" }),
  }),
  errors: ["invalid_signature", "nonce_expired", "wallet_already_linked", "chain_unavailable"],
});

export const listLinkedWallets = defineContract({
  method: "GET",
  path: "/wallets/link",
  summary: "Wallets that the signed-in person linked to the project",
  description:
    "Wallets that the signed-in person linked and did not unlink. GET /wallets has those of the whole project.",
  tag,
  auth: "user",
  status: 200,
  response: z.object({
    data: z.array(linkedWalletRecord).meta({ description: "Linked wallets" }),
  }),
});

export const unlinkWallet = defineContract({
  method: "DELETE",
  path: "/wallets/link/{address}",
  summary: "Unlinks a wallet; it is a source no more, and what it did stays on record",
  description:
    "The wallet is no source any more. The service never had its key, and money in it stays there. A wallet with operations under way answers 409 `invalid_state`.",
  tag,
  auth: "user",
  permission: "records:write",
  params: z.object({ address }),
  status: 200,
  response: z.object({
    address,
    unlinkedAt: timestamp.meta({ description: "When it was unlinked" }),
  }),
  errors: ["not_found", "invalid_state"],
});

export const createSmartAccount = defineContract({
  method: "POST",
  path: "/wallet/smart-account",
  summary:
    "The smart account (ERC-4337) of an owner: the same address on every chain, deployed by its first operation",
  description:
    "Computes the address of an ERC-4337 account for the owner and adds it to the project's wallets. Nothing is deployed and nothing is charged before its first operation. The same owner and chain give the same account again.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "wallets:write",
  body: z.object({
    ownerAddress: address.meta({
      description: "A linked wallet of the project, or the owner of its treasury",
    }),
    chainId,
    label: walletLabel.optional().meta({ description: "Name for people, 1–80 characters" }),
  }),
  status: 201,
  response: z.object({
    id: id("wal").meta({ description: "Id of the wallet" }),
    address,
    ownerAddress: address.meta({ description: "Owner that signs for the account" }),
    chainId,
    deployed: z.boolean().nullable().meta({ description: "null: the chain did not answer" }),
    factory: address.meta({ description: "Contract that deploys the account" }),
    salt: z.string().meta({ description: "Salt of the account's address, a decimal string" }),
    signer: walletRecord.shape.signer.meta({ description: "Who signs what the wallet sends" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  }),
  errors: [
    "unsupported_chain",
    "unknown_wallet",
    "wallet_already_linked",
    "invalid_request",
    "chain_unavailable",
  ],
});
