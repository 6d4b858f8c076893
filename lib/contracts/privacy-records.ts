/** Private wallets and private operations as they are read. */
import { z } from "zod";
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
} from "./common";

const PRIVATE_KINDS = ["shield", "unshield", "private_transfer", "private_swap", "public_exit"] as const;

/** Whether an operation's details are shown by the private page alone. */
export const isPrivateKind = (kind: string): kind is (typeof PRIVATE_KINDS)[number] =>
  (PRIVATE_KINDS as readonly string[]).includes(kind);

export const honesty = {
  engine: z.string().meta({ description: "What makes the proofs" }),
  swapVenue: z
    .string()
    .nullable()
    .meta({ description: "Exchange through which a swap goes; null for operations of other kinds" }),
  anonymitySet: z
    .int()
    .nullable()
    .meta({ description: "Approved deposits of the pool among which a withdrawal hides now; null: not known now" }),
  staysPublic: z.array(z.string()).meta({ description: "What everybody sees on the chain all the same" }),
};

export const privacyWalletRecord = z
  .object({
    privacyWalletId: id("pw").meta({ description: "Id of the private wallet" }),
    name: z.string().meta({ description: "Name of the private wallet" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  })
  .meta({ id: "PrivateWallet" });

export const privateTransferRecord = z
  .object({
    transferId: id("tr").meta({ description: "Id of the private operation" }),
    operationId: id("op").meta({ description: "Id under which GET /operations has it" }),
    kind: z.enum(PRIVATE_KINDS).meta({ description: "What the operation does" }),
    status,
    subStatus,
    privacyWalletId: id("pw").meta({ description: "Private wallet that pays, or receives a shield" }),
    toPrivacyWalletId: id("pw")
      .nullable()
      .meta({ description: "Private wallet that receives; null where an address does" }),
    toAddress: address.nullable().meta({ description: "Address that receives; null where a private wallet does" }),
    chainId,
    amount: tokenAmount.meta({ description: "What is shielded or swapped; else what the recipient gets exactly" }),
    minimum: tokenAmount.nullable().meta({ description: "Of a swap: what it brings at least, before the pool's fee" }),
    received: tokenAmount.nullable().meta({ description: "What arrived, as the chain shows it; null before it did" }),
    steps: z
      .array(
        z.object({
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
            .meta({ description: "While its transaction is sent and not final; null before and after" }),
          failure: failureRecord.nullable().meta({ description: "Why it failed; null where it did not" }),
        }),
      )
      .meta({ description: "One for each transaction" }),
    proof: z
      .object({
        startedAt: timestamp.meta({ description: "When the proof was begun" }),
        secondsLeft: z.int().meta({ description: "About how many seconds it still takes" }),
      })
      .nullable()
      .meta({ description: "While a proof is made: when it began, and about how long it still takes" }),
    failure: failureRecord.nullable().meta({ description: "Why it failed; null where it did not" }),
    createdBy: z
      .string()
      .meta({ description: "Who created it: a person (usr_), an API key (key_) or a part of the service" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
    expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
    ...honesty,
  })
  .meta({ id: "PrivateTransfer" });
