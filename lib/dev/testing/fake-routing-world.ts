import type { Clock } from "@/lib/core/clock";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import type { RouteRequest } from "@/lib/core/route-request";
import type { RoutingProvider } from "@/lib/money/ports/routing";
import type { RoutingWorld } from "@/lib/money/ports/routing.contract";
import { createFakeRouting, type FakeRouting } from "@/lib/money/ports/fakes/routing";

const OWNER: EvmAddress = "0x00000000000000000000000000000000000000a1";
const RECIPIENT: EvmAddress = "0x00000000000000000000000000000000000000b2";

const token = (
  symbol: string,
  chainId: number,
  decimals: number,
  usdPegged: boolean,
): Token => ({
  symbol,
  name: symbol,
  chainId,
  address: `0x${Buffer.from(symbol).toString("hex").padStart(40, "0")}`,
  decimals,
  assetId: symbol.toLowerCase(),
  usdPegged,
});

const usdc = (chainId: number): Token => token("USDC", chainId, 6, true);
const weth = (chainId: number): Token => token("WETH", chainId, 18, false);
const odd = (chainId: number): Token => token("ODD", chainId, 18, false);

const request = (
  from: readonly Token[],
  to: Token,
  amountBase = 1_000_000_000n,
): RouteRequest => ({
  sources: from.map((source) => ({ owner: OWNER, token: source, amountBase })),
  destination: { token: to, recipient: RECIPIENT },
  slippageBps: 50,
});

/**
 * The world for the contract tests of routing providers, with the fake provider and without chains.
 * @param provided creates, from the fake, the object that the tests call instead of the fake
 */
export const fakeRoutingWorld = (
  provided: (fake: FakeRouting) => RoutingProvider = (fake) => fake,
): RoutingWorld => {
  let now = new Date("2026-01-01T00:00:00Z");
  const clock: Clock = { now: () => now };
  const fake = createFakeRouting({ clock, usdByAsset: { weth: 3000n } });
  return {
    provider: provided(fake),
    requests: {
      transfer: request([usdc(1)], usdc(1)),
      sameChainSwap: request([usdc(1)], weth(1)),
      bridge: request([usdc(1)], usdc(2)),
      twoSources: request([usdc(1), usdc(2)], weth(3)),
      tooLarge: request([usdc(1)], weth(2), 10n ** 14n),
      unroutable: request([usdc(1)], odd(2)),
    },
    priced: weth(1),
    unpriced: odd(1),
    execute: (...made) => Promise.resolve(fake.mine(...made)),
    balanceOf: () => Promise.resolve(null),
    fillDeposits: () => undefined,
    fill: fake.fill,
    passDeadline: (fillDeadline) => {
      now = new Date((fillDeadline + 1) * 1000);
    },
    refund: fake.refund,
  };
};
