import type { PublicClient } from "viem";
import { expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { systemClock } from "@/lib/core/clock";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { createOnchainRouting } from "./provider";

const [ONE, THREE] = [31337, 31339];
const LATE_MS = 200;

const { chains } = await testDevnet();
const never = (): AbortSignal => new AbortController().signal;

/** A client whose reads resolve after those of all other chains. */
const late = (client: PublicClient): PublicClient => ({
  ...client,
  call: async (parameters) => {
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
    return client.call(parameters);
  },
});

test("the highest price over chains is given where it is asked for, not that of the chain which answers first", async () => {
  // On the last chain the pools return ten times as much.
  const registry = createChainRegistry(
    chains.map((chain) =>
      chain.id === THREE
        ? {
            ...chain,
            tokens: chain.tokens.map((token) =>
              token.symbol === "DAI" ? { ...token, decimals: 17 } : token,
            ),
          }
        : chain,
    ),
  );
  const client = (chainId: number) =>
    chainId === THREE ? late(registry.client(chainId)) : registry.client(chainId);
  const provider = createOnchainRouting({
    registry: { ...registry, client },
    clock: systemClock,
  });
  for (const symbol of ["WETH", "native"]) {
    const asked = [registry.resolveToken(ONE, symbol), registry.resolveToken(ONE, "USDC")];
    const [price, dollar] = await provider.priceUsd(asked, never());
    const [highest, highestDollar] = await provider.highestPriceUsd(asked, never());
    expect([dollar, highestDollar]).toEqual(["1", "1"]);
    expect(Number(price)).toBeGreaterThan(0);
    expect(Number(highest) / Number(price)).toBeGreaterThan(5);
  }
});
