import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareAnvil, startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { driftsOf, measureChains } from "./measured-facts";
import { createChainRegistry } from "./registry";

const CHAIN = 31_397;
const CONFIGURED_MS = 12_000;

let chain: BareAnvil;
beforeAll(async () => {
  chain = await startBareAnvil(CHAIN);
});
afterAll(() => chain.stop());

const newRegistry = () =>
  createChainRegistry([
    {
      ...chain.config,
      name: "Quick",
      blockTimeMs: CONFIGURED_MS,
      finality: "finalized",
      confirmations: 3,
    },
  ]);

test("a chain with a few blocks gives no facts, and keeps its configuration", async () => {
  const registry = newRegistry();
  expect(await measureChains(registry)).toEqual([]);
  expect(registry.get(CHAIN).blockTimeMs).toBe(CONFIGURED_MS);
  expect(registry.atPace(CHAIN, 64)).toBe(64);
});

test("what depends on seconds follows a chain that became quicker, and the difference is named", async () => {
  await chain.client.mine({ blocks: 600, interval: 1 });
  const registry = newRegistry();
  const facts = await measureChains(registry);
  expect(facts).toMatchObject([
    { chainId: CHAIN, name: "block_time_ms", configured: CONFIGURED_MS },
    { chainId: CHAIN, name: "final_depth", configured: 3 },
  ]);
  const { number, timestamp } = await chain.client.getBlock({ blockTag: "latest" });
  const before = await chain.client.getBlock({ blockNumber: number - 500n });
  const blockTimeMs = Math.round((Number(timestamp - before.timestamp) * 1000) / 500);
  expect(blockTimeMs).not.toBe(CONFIGURED_MS);
  expect(registry.get(CHAIN).blockTimeMs).toBe(blockTimeMs);
  expect(registry.find(CHAIN)).toBe(registry.get(CHAIN));
  expect(registry.atPace(CHAIN, 64)).toBe(Math.ceil((64 * CONFIGURED_MS) / blockTimeMs));
  expect(driftsOf(registry, facts)[0]).toMatch(
    /^Quick makes a block every \d+ ms; CHAINS_FILE says blockTimeMs 12000$/,
  );
  expect(driftsOf(registry, facts)[1]).toMatch(/^Quick's final block is \d+ blocks deep/);
});

test("a chain that stood still counts as at most five times slower, and looks back no less", async () => {
  await chain.client.mine({ blocks: 600, interval: 600 });
  const registry = newRegistry();
  await measureChains(registry);
  expect(registry.get(CHAIN).blockTimeMs).toBe(5 * CONFIGURED_MS);
  expect(registry.atPace(CHAIN, 64)).toBe(64);
});

test("a chain that does not answer gives no facts", async () => {
  const registry = createChainRegistry([{ ...chain.config, rpcUrls: ["http://127.0.0.1:1"] }], {
    timeoutMs: 200,
  });
  expect(await measureChains(registry)).toEqual([]);
});
