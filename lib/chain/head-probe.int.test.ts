import { afterAll, expect, test } from "vitest";
import { startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { createHeadProbe } from "./blocks";
import { createChainRegistry } from "./registry";

const CHAIN_ID = 4_242;
const STILL_MS = 31_000;

const anvil = await startBareAnvil(CHAIN_ID);
afterAll(() => anvil.stop());
const registry = createChainRegistry([anvil.config]);
const time = { passedMs: 0 };
const probeAt = (aheadMs: number) =>
  createHeadProbe(
    {
      registry,
      clock: { now: () => new Date(Date.now() + aheadMs) },
      monotonicMs: () => time.passedMs,
    },
    CHAIN_ID,
  );
const ask = (probe: ReturnType<typeof probeAt>): Promise<string> =>
  probe.check(AbortSignal.timeout(30_000));

test("a chain whose head does not move is named once several blocks should have come, and is well again with the next block", async () => {
  await anvil.client.mine({ blocks: 1 });
  const probe = probeAt(0);
  expect(await ask(probe)).toContain("block 1");
  time.passedMs += STILL_MS - 2_000;
  expect(await ask(probe)).toContain("block 1");
  time.passedMs += 2_000;
  await expect(ask(probe)).rejects.toThrow(/Bare 4242 stands still: block 1 .* RPC_URL_4242/);
  await anvil.client.mine({ blocks: 1 });
  expect(await ask(probe)).toContain("block 2");
});

test("a chain that stood still before anybody looked is told by its newest block's own time", async () => {
  await anvil.client.mine({ blocks: 1 });
  await expect(ask(probeAt(STILL_MS))).rejects.toThrow("stands still");
  expect(await ask(probeAt(0))).toContain("block");
});

test("a chain whose own clock is far behind, and whose head moves, is well", async () => {
  const probe = probeAt(3_600_000);
  await expect(ask(probe)).rejects.toThrow("stands still");
  await anvil.client.mine({ blocks: 1 });
  expect(await ask(probe)).toContain("block");
});
