import { z } from "zod";
import { chainId, timestamp } from "./common";

export const gasWaitRecord = z
  .object({
    chainId,
    priceGwei: z.string().meta({
      description: "What the chain asks for a unit of gas, in gwei: base fee and tip",
    }),
    capGwei: z
      .string()
      .meta({ description: "The most that the service pays for a unit of gas there, in gwei" }),
    since: timestamp.meta({ description: "Since when the price is above the cap" }),
  })
  .meta({ id: "GasWait" });
