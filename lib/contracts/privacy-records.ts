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

const honesty = {
  engine: z.string().meta({ description: "What makes the proofs" }),
  anonymitySet: z
    .int()
    .nullable()
    .meta({ description: "Approved deposits of the pool among which a withdrawal hides now; null: not known now" }),
  staysPublic: z.array(z.string()).meta({ description: "What everybody sees on the chain all the same" }),
};

export const privacyWalletRecord = z
  .object({ privacyWalletId: id("pw"), name: z.string(), createdAt: timestamp })
  .meta({ id: "PrivateWallet" });

export const privateTransferRecord = z
  .object({
    transferId: id("tr"),
    operationId: id("op"),
    kind: z.enum(PRIVATE_KINDS),
    status,
    subStatus,
    privacyWalletId: id("pw"),
    toPrivacyWalletId: id("pw").nullable(),
    toAddress: address.nullable(),
    chainId,
    amount: tokenAmount.meta({ description: "What is shielded or swapped; else what the recipient gets exactly" }),
    minimum: tokenAmount.nullable().meta({ description: "Of a swap: what it brings at least, before the pool's fee" }),
    received: tokenAmount.nullable(),
    steps: z.array(
      z.object({
        state: z.enum(["queued", "proved", "submitted", "completed", "failed"]),
        withdrawn: amountOut,
        txHash: hex.nullable(),
        failure: failureRecord.nullable(),
      }),
    ),
    proof: z
      .object({ startedAt: timestamp, secondsLeft: z.int() })
      .nullable()
      .meta({ description: "While a proof is made: when it began, and about how long it still takes" }),
    failure: failureRecord.nullable(),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
    expiresAt: timestamp.nullable().meta({ description: "Until when it can be approved" }),
    ...honesty,
  })
  .meta({ id: "PrivateTransfer" });
