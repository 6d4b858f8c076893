/** Stored form and description of waits for a chain's network fee to fall below its cap. */
import { formatGwei } from "viem";
import { z } from "zod";
import { shownChain, type ChainFacts } from "@/lib/chain/shown-chain";
import type { FeeExcess } from "@/lib/core/capped-fees";
import { storedBase } from "@/lib/platform/db/codecs";

export interface GasWait extends FeeExcess {
  readonly chainId: number;
  readonly since: Date;
}

const storedWait = z.object({ price: storedBase, cap: storedBase, since: z.coerce.date() });

/**
 * Column `gas_waits`: for each chain id, the fee, the fee's cap and the time since which the
 * operation waits.
 */
export const storedGasWaits = z
  .record(z.string(), storedWait)
  .nullable()
  .transform((waits): readonly GasWait[] =>
    Object.entries(waits ?? {}).map(([chainId, { price, cap, since }]) => ({
      chainId: Number(chainId),
      pricePerGas: price,
      capPerGas: cap,
      since,
    })),
  );

export const gasWaitSentence = (
  waits: readonly GasWait[],
  chains: ChainFacts,
): string | null => {
  if (waits.length === 0) return null;
  const prices = waits.map(
    ({ chainId, pricePerGas, capPerGas }) =>
      `${formatGwei(pricePerGas)} gwei on ${shownChain(chains, chainId).name}, and at most ${formatGwei(capPerGas)} is paid`,
  );
  return `Nothing to do: it waits until the network fee falls. The fee is ${prices.join("; ")}.`;
};
