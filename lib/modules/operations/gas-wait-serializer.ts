import { formatGwei } from "viem";
import type { z } from "zod";
import type { gasWaitRecord } from "@/lib/contracts/gas-wait";
import type { GasWait } from "./gas-wait";

/** A wait for a network fee; prices in gwei for each unit of gas. */
export const toGasWait = ({ chainId, pricePerGas, capPerGas, since }: GasWait): z.output<typeof gasWaitRecord> => ({
  chainId,
  priceGwei: formatGwei(pricePerGas),
  capGwei: formatGwei(capPerGas),
  since: since.toISOString(),
});
