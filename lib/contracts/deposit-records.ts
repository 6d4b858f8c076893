/** Deposits in responses. */
import { z } from "zod";
import { address, amountOut, chainId, hex, id, timestamp, tokenAmount } from "./common";

export const depositStates = [
  "pending",
  "credited",
  "quarantined",
  "released",
  "dropped",
] as const;
export const screeningStates = ["clear", "hit", "not_covered", "unavailable"] as const;

export const depositState = z.enum(depositStates).meta({
  description:
    "`pending`: seen, and not final yet. `credited`: final, and it may be moved. `quarantined`: it waits for a person and cannot be moved. `released`: a person let it go. `dropped`: a reorganisation of the chain removed it",
});

export const depositRecord = z
  .object({
    id: id("op").meta({ description: "Id of the deposit and of its operation" }),
    state: depositState,
    sender: address.nullable().meta({
      description:
        "Who sent it; null for coins that a contract sent, where the chain keeps no log of it",
    }),
    walletId: id("wal").meta({ description: "The wallet that it came into" }),
    walletAddress: address.meta({ description: "Address of that wallet" }),
    chainId,
    received: tokenAmount.meta({ description: "What came in" }),
    usd: amountOut.nullable().meta({
      description:
        "Its worth in US dollars when it was credited; null before, and where no price was known",
    }),
    txHash: hex
      .nullable()
      .meta({ description: "Its transaction; null for coins whose sender is not known" }),
    blockNumber: z.string().meta({ description: "Number of its block, a decimal string" }),
    confirmations: z.int().meta({
      description: "Blocks on top of its block, that block included, as far as needed",
    }),
    confirmationsNeeded: z
      .int()
      .meta({ description: "Confirmations at which it counts as final" }),
    explorerUrl: z.string().nullable().meta({
      description: "Page of its transaction in the chain's explorer; null where there is none",
    }),
    screening: z
      .object({
        verdict: z.enum(screeningStates).meta({
          description:
            "What the sources say of the sender. `not_covered` and `unavailable` never mean `clear`",
        }),
        source: z
          .string()
          .nullable()
          .meta({ description: "The source that decided; null: no source covers it" }),
        listVersion: z
          .string()
          .nullable()
          .meta({ description: "Version of its list; null where it has none" }),
        at: timestamp.meta({ description: "When the sender was screened" }),
      })
      .nullable()
      .meta({
        description:
          "The screening of the sender; null where nothing is set up or the policy asks for none",
      }),
    decision: z
      .object({
        by: z.string().meta({ description: "Who decided" }),
        reason: z.string().meta({ description: "Why" }),
        at: timestamp.meta({ description: "When" }),
      })
      .nullable()
      .meta({
        description:
          "The decision of a person about a quarantined deposit; null where there was none",
      }),
    may: z
      .object({
        release: z.boolean().meta({ description: "Whether POST …/release is possible" }),
      })
      .meta({ description: "What can be asked of it now" }),
    detectedAt: timestamp.meta({ description: "When it was seen first" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
  })
  .meta({ id: "Deposit" });
