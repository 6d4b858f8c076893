/** Private wallets and private operations in responses. */
import { z } from "zod";
import { isPrivateKind, PRIVATE_KINDS } from "@/lib/core/movement-kinds";
import {
  address,
  amountOut,
  chainId,
  failureRecord,
  hex,
  id,
  status,
  subStatus,
  timestamp,
  tokenAmount,
  tokenRecord,
} from "./common";
import { outcomeRecord } from "./outcome";

export { isPrivateKind, PRIVATE_KINDS };

export const honesty = {
  engine: z.string().meta({ description: "What makes the proofs" }),
  swapVenue: z.string().nullable().meta({
    description: "Exchange through which a swap goes; null for operations of other kinds",
  }),
  anonymitySet: z.int().nullable().meta({
    description:
      "Approved deposits of the pool among which a withdrawal hides now; null: not known now",
  }),
  staysPublic: z
    .array(z.string())
    .meta({ description: "What everybody sees on the chain all the same" }),
};

export const privacyWalletRecord = z
  .object({
    id: id("pw").meta({ description: "Id of the private wallet" }),
    name: z.string().meta({ description: "Name of the private wallet" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    exportedAt: timestamp.nullable().meta({
      description:
        "When its mnemonic was first shown; null where it never was. Whoever saw it can move what the wallet gets, so policies treat the wallet as an address that nobody approved",
    }),
  })
  .meta({ id: "PrivateWallet" });

export const poolRecord = z
  .object({
    token: tokenRecord.meta({ description: "The token that the pool holds" }),
    address,
    scope: z.string().meta({
      description:
        "The pool's scope, an integer as a decimal string. Notes are derived from mnemonic and scope",
    }),
    entrypoint: address.meta({
      description: "The contract through which the pool takes deposits and relays",
    }),
    startBlock: z.int().meta({
      description: "No pool of the chain has a deposit before this block: searches begin here",
    }),
  })
  .meta({ id: "PrivacyPool" });

const privateStep = z
  .object({
    state: z
      .enum(["queued", "proved", "submitted", "completed", "failed"])
      .meta({ description: "How far the step is" }),
    withdrawn: amountOut.meta({ description: "What the step takes out of the pool" }),
    txHash: hex
      .nullable()
      .meta({ description: "Hash of the transaction, 32 bytes; null where none was sent yet" }),
    waits: z
      .object({
        since: timestamp.meta({ description: "When its transaction was sent" }),
        nextAction: z.string().meta({ description: "Where the money is, and what to do next" }),
      })
      .nullable()
      .meta({
        description: "While its transaction is sent and not final; null before and after",
      }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
  })
  .meta({ id: "PrivateStep" });

export const privateTransferRecord = z
  .object({
    id: id("tr").meta({ description: "Id of the private operation" }),
    transferId: id("tr").meta({ description: "The same as `id`" }),
    operationId: id("op").meta({ description: "Id under which GET /operations has it" }),
    kind: z.enum(PRIVATE_KINDS).meta({ description: "What the operation does" }),
    status,
    subStatus,
    privacyWalletId: id("pw").meta({
      description: "Private wallet that pays, or receives a shield",
    }),
    toPrivacyWalletId: id("pw")
      .nullable()
      .meta({ description: "Private wallet that receives; null where an address does" }),
    toAddress: address
      .nullable()
      .meta({ description: "Address that receives; null where a private wallet does" }),
    chainId,
    amount: tokenAmount.meta({
      description: "What is shielded or swapped; else what the recipient gets exactly",
    }),
    minimum: tokenAmount
      .nullable()
      .meta({ description: "Of a swap: what it brings at least, before the pool's fee" }),
    received: tokenAmount
      .nullable()
      .meta({ description: "What arrived, as the chain shows it; null before it did" }),
    steps: z.array(privateStep).meta({ description: "One for each transaction" }),
    proof: z
      .object({
        startedAt: timestamp.meta({ description: "When the proof was begun" }),
        secondsLeft: z.int().meta({ description: "About how many seconds it still takes" }),
      })
      .nullable()
      .meta({
        description: "While a proof is made: when it began, and about how long it still takes",
      }),
    failure: failureRecord
      .nullable()
      .meta({ description: "Why it failed; null where it did not" }),
    outcome: outcomeRecord,
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
    expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
    ...honesty,
  })
  .meta({ id: "PrivateTransfer" });
