import { createTestClient, http, parseGwei, parseUnits } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { never, requestOf, routeJourneys } from "@/lib/dev/testing/route-journeys";
import { startLocalRouting, type LocalRouting } from "@/lib/dev/testing/routing-world";

/** Stand-ins for Base and Ethereum: the origin and the destination of the deposits. */
const [BASE, ETHEREUM] = [31337, 31338] as const;
let local: LocalRouting;
beforeAll(async () => {
  local = await startLocalRouting();
  // A new chain begins at 1 gwei, which falls block by block.
  await Promise.all([BASE, ETHEREUM].map((chainId) => setGasPrice(chainId, "0.005")));
});
afterAll(async () => local.stop());
const { bestLeg, start, trackUntil } = routeJourneys(() => local);

const token = (chainId: number, symbol: string): Token =>
  local.registry.resolveToken(chainId, symbol);
const usdc = (amount: string): bigint => parseUnits(amount, 6);

type Across = NonNullable<ChainConfig["contracts"]["across"]>;

/**
 * A provider without cached prices that carries only USDC, with changes to the configuration of the
 * destination's bridge.
 */
const changed = (own: Partial<Across> = {}) =>
  local.variant((chain) => {
    const { across } = chain.contracts;
    if (across === undefined) throw new Error("The local chains have a bridge.");
    const only = { ...across, tokens: ["USDC"], ...(chain.id === ETHEREUM ? own : {}) };
    return { ...chain, contracts: { ...chain.contracts, across: only } };
  }).provider;

/** Mines a block whose base fee is the configured gas price; the next block has an eighth less. */
const setGasPrice = async (chainId: number, gwei: string): Promise<void> => {
  const [url] = local.registry.get(chainId).rpcUrls;
  const client = createTestClient({ mode: "anvil", transport: http(url) });
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(gwei) });
  await client.mine({ blocks: 1 });
};

const journey = (amount: string) =>
  requestOf({ from: token(BASE, "USDC"), to: token(ETHEREUM, "USDC"), amount });

/** Fee in base units of USDC (six decimals). */
const feeOf = async (amount: string, provider = changed()): Promise<bigint> => {
  const [fee] = (await bestLeg(journey(amount), provider)).fees;
  if (fee?.kind !== "bridge") throw new Error("A leg without a bridge's fee.");
  return fee.amountBase;
};

const refusalOf = async (amount: string, provider = changed()): Promise<string> => {
  const error: unknown = await provider
    .quote(journey(amount), never())
    .catch((reason: unknown) => reason);
  if (!isDomainError(error)) throw new Error("It was quoted.", { cause: error });
  expect(error.code).toBe("no_route");
  return error.message;
};

describe("the fee from a chain with cheap gas to one with dear gas", () => {
  test("differs between 100 and 1,000,000 dollars by the tiers alone", async () => {
    const [small, large] = await Promise.all([feeOf("100"), feeOf("1000000")]);
    // 4 bps of 10,000, 2 bps of 90,000 and 1 bp of 900,000; of the small one 4 bps of 100.
    expect(large - small).toBe(usdc("112") - usdc("0.04"));
    // 120,000 gas at 1 gwei and 3,000 dollars, rounded up to the step, and the fixed margin.
    expect(small).toBe(usdc("0.4") + usdc("0.02") + usdc("0.04"));
  });

  test("contains the gas of a message when the destination swaps", async () => {
    const request = requestOf({
      from: token(BASE, "USDC"),
      to: token(ETHEREUM, "WETH"),
      amount: "100",
    });
    const [fee] = (await bestLeg(request, changed())).fees;
    // 320,000 gas at 1 gwei and 3,000 dollars are 0.96 dollars.
    expect(fee).toMatchObject({
      kind: "bridge",
      amountBase: usdc("1") + usdc("0.02") + usdc("0.04"),
    });
  });

  test("rises with the gas price of the destination, in steps, and not with that of the origin", async () => {
    const before = await feeOf("10000");
    try {
      await setGasPrice(BASE, "900");
      expect(await feeOf("10000")).toBe(before);
      await setGasPrice(ETHEREUM, "0.05");
      expect(await feeOf("10000")).toBe(before);
      await setGasPrice(ETHEREUM, "900");
      // After half a minute of empty blocks the price is still above 10 gwei, at which 120,000 gas
      // cost 3.6 dollars.
      expect(await feeOf("10000")).toBeGreaterThan(before + usdc("3"));
    } finally {
      await setGasPrice(ETHEREUM, "0.005");
      await setGasPrice(BASE, "0.005");
    }
    expect(await feeOf("10000")).toBe(before);
  });
});

test("an amount below the relayer's cost has no route, and the reason says what a fill costs", async () => {
  expect(await refusalOf("0.3")).toBe(
    "The amount is too small: the bridge's fee of 0.42012 USDC would take all of 0.3 USDC. A relayer pays about 0.4 US dollars " +
      "for gas on Local 2 and asks 0.03 more. Nothing was sent; send more at once.",
  );
});

test("amounts outside the limits of the destination's token have no route, and the reason says the limit", async () => {
  const limited = changed({ limits: { USDC: { min: "5", max: "2000" } } });
  expect(await refusalOf("4.99", limited)).toContain(
    "carries at least 5 USDC at once to Local 2, and this is 4.99 USDC",
  );
  expect(await refusalOf("2000.000001", limited)).toContain(
    "at most 2000 USDC at once to Local 2",
  );
  expect(await feeOf("5", limited)).toBe(usdc("0.422"));
  expect(await feeOf("2000", limited)).toBe(usdc("1.22"));
  // The limits apply only in this direction; the way back has none.
  const back = requestOf({
    from: token(ETHEREUM, "USDC"),
    to: token(BASE, "USDC"),
    amount: "4",
  });
  expect(await bestLeg(back, limited)).toMatchObject({ kind: "bridge" });
});

test("the reason of the bridge itself is told, though a way with swaps lacks liquidity", async () => {
  const provider = local.variant((chain) => {
    const { across } = chain.contracts;
    if (across === undefined) throw new Error("The local chains have a bridge.");
    const limits = { USDC: { max: "1000000" } };
    return { ...chain, contracts: { ...chain.contracts, across: { ...across, limits } } };
  }).provider;
  expect(await refusalOf("900000000", provider)).toContain(
    "at most 1000000 USDC at once to Local 2",
  );
});

test("a pegged token arrives as promised to the last unit, for exactly the fee that was shown", async () => {
  const request = journey("100");
  const { leg, deposit } = await start(request, changed());
  expect(leg.minOutBase).toBe(leg.expectedOutBase);
  const filled = await trackUntil(request, leg, deposit, "filled");
  expect(filled).toMatchObject({ receivedBase: usdc("99.54") });
});
