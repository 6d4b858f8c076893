import { register } from "prom-client";
import { afterEach, expect, test } from "vitest";
import { sqlBy } from "@/lib/platform/db/sql";
import { reserveSampler } from "./samplers";

const NAME = "causeway_reserve_coverage_ratio";

afterEach(() => register.getSingleMetric(NAME)?.reset());

interface Stand {
  readonly onChain: bigint;
  readonly owed: bigint;
  readonly committed?: bigint;
  readonly chainIsAway?: boolean;
}

/** The reserve state of USDC by project. The map may change between samples. */
const samplerOf = (stands: ReadonlyMap<string, Stand>) =>
  reserveSampler({
    sql: sqlBy({
      change: () => Promise.reject(new Error("A sampler changes nothing.")),
      query: <Row extends object>(_text: string, [after]: readonly unknown[]) =>
        Promise.resolve(
          [...stands.keys()]
            .sort()
            .filter((projectId) => projectId > String(after))
            .slice(0, 20)
            .map((projectId) => ({ projectId })) as unknown as Row[],
        ),
    }),
    reserves: {
      list: (projectId) => {
        const {
          onChain,
          owed,
          committed = 0n,
          chainIsAway = false,
        } = stands.get(projectId) ?? { onChain: 0n, owed: 0n };
        const positions = [{ backs: true, finalBase: chainIsAway ? null : onChain }];
        const bases = { onChainBase: onChain, committedBase: committed, liabilitiesBase: owed };
        return Promise.resolve([{ asset: { symbol: "USDC" }, positions, ...bases }]);
      },
    },
  });

const shown = async (): Promise<number | undefined> => {
  const metric = (await register.getMetricsAsJSON()).find(({ name }) => name === NAME);
  return metric?.values[0]?.value;
};

test("the project with the lowest coverage is shown, with what is committed taken off", async () => {
  const stands = new Map<string, Stand>([
    ["a", { onChain: 200n, owed: 100n }],
    ["b", { onChain: 100n, owed: 100n, committed: 10n }],
  ]);
  await samplerOf(stands).sample();
  expect(await shown()).toBe(0.9);
});

test("a chain that is away keeps the last ratio, and says nothing where there was none", async () => {
  const stands = new Map<string, Stand>([
    ["a", { onChain: 0n, owed: 100n, chainIsAway: true }],
  ]);
  const sampler = samplerOf(stands);
  await sampler.sample();
  expect(await shown()).toBeUndefined();
  stands.set("a", { onChain: 150n, owed: 100n });
  await sampler.sample();
  stands.set("a", { onChain: 0n, owed: 100n, chainIsAway: true });
  await sampler.sample();
  expect(await shown()).toBe(1.5);
});

test("more projects than one sample reads are read in turns, and one that owes nothing any more is forgotten", async () => {
  const stands = new Map<string, Stand>(
    Array.from({ length: 25 }, (_, index) => [
      `p${String(index).padStart(2, "0")}`,
      { onChain: 100n, owed: 100n },
    ]),
  );
  stands.set("p24", { onChain: 50n, owed: 100n });
  const sampler = samplerOf(stands);
  await sampler.sample();
  expect(await shown()).toBe(1);
  await sampler.sample();
  expect(await shown()).toBe(0.5);
  stands.delete("p24");
  await sampler.sample();
  await sampler.sample();
  expect(await shown()).toBe(1);
});
