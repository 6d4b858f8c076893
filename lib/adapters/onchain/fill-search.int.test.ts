import { createTestClient, http } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import type { Token } from "@/lib/core/token";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { startLocalRouting, type LocalRouting } from "@/lib/dev/testing/routing-world";
import { never, requestOf, routeJourneys } from "@/lib/dev/testing/route-journeys";
import { createOnchainRouting } from "./provider";

const [ONE, TWO] = [31337, 31338] as const;
let local: LocalRouting;
beforeAll(async () => {
  local = await startLocalRouting();
});
afterAll(async () => local.stop());

const token = (chainId: number, symbol: string): Token =>
  local.registry.resolveToken(chainId, symbol);
const { start, trackUntil } = routeJourneys(() => local);

test("a fill is found through a node that refuses the configured range, many ranges after the deposit", async () => {
  const request = requestOf({
    from: token(ONE, "USDC"),
    to: token(TWO, "USDC"),
    amount: "100",
  });
  local.solver.pause();
  const { leg, deposit } = await start(request);
  const rpcUrl = local.registry.get(TWO).rpcUrls[0] ?? "";
  const mine = (blocks: number) =>
    createTestClient({ mode: "anvil", transport: http(rpcUrl, { timeout: 60_000 }) }).mine({
      blocks,
    });
  await mine(600);
  local.solver.resume();
  await trackUntil(request, leg, deposit, "filled");
  const proxy = await startFaultProxy(rpcUrl);
  try {
    const refused = proxy.on({
      methods: ["eth_getLogs"],
      when: ({ params: [filter] }) => {
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
        return BigInt(toBlock) - BigInt(fromBlock) >= 100n;
      },
      fault: {
        kind: "error",
        code: -32_602,
        message: "eth_getLogs is limited to a range of 100 blocks",
      },
    });
    const { registry } = local.variant((chain) =>
      chain.id === TWO ? { ...chain, rpcUrls: [proxy.url], logRangeBlocks: 200 } : chain,
    );
    // Two ranges per call, so that each search has to continue where the previous call ended.
    const provider = createOnchainRouting({
      registry,
      clock: systemClock,
      config: { logRangesMax: 2 },
    });
    const states: string[] = [];
    for (let calls = 0; calls < 20 && states.at(-1) !== "filled"; calls += 1)
      states.push((await provider.track(request, leg, deposit, never())).state);
    expect(refused.hits).toBeGreaterThan(0);
    expect(states[0]).toBe("waiting");
    expect(states.at(-1)).toBe("filled");
  } finally {
    await proxy.close();
  }
});
