/** Where the money of a movement is, what happened to it, and what to do next. */
import { z } from "zod";
import { amountOut, chainId, hex, tokenRecord } from "./common";

const holding = z
  .object({
    wallet: z.string().meta({
      description:
        "0x address, the name of a bridge and its deposit, the recipients of a payout, or the id of an account",
    }),
    chainId,
    token: tokenRecord.meta({ description: "The token" }),
    amount: amountOut.meta({ description: "How much of the token is there" }),
    amountBase: z
      .string()
      .meta({ description: "The same amount as an integer string of base units" }),
    txHash: hex
      .nullable()
      .meta({ description: "Transaction that put it there; null where none did" }),
    note: z.string().meta({ description: "Explains why it is there" }),
  })
  .meta({ id: "Holding" });

export const outcomeRecord = z
  .object({
    sentence: z
      .string()
      .meta({ description: "What happened so far, or why it ended, for people" }),
    holds: z.array(holding).meta({ description: "Where each part of the money is" }),
    nextAction: z.string().meta({ description: "A sentence that says what to do next" }),
  })
  .meta({ id: "Outcome", description: "Where the money is, and what to do next" });
