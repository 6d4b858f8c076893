import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chainsFile } from "./chains";

type Json = Record<string, unknown>;

/**
 * The error messages about the bridge of the local file's first chain, after changes to its
 * configuration.
 */
const faultsOf = (changes: Json): string[] => {
  const file = JSON.parse(
    readFileSync(new URL("chains/local.json", import.meta.url), "utf8"),
  ) as {
    chains: { contracts: { across: Json } }[];
  };
  const [first] = file.chains;
  if (first === undefined) throw new Error("There are local chains.");
  Object.assign(first.contracts.across, changes);
  const { error } = chainsFile.safeParse(file);
  return (error?.issues ?? []).map(
    ({ path, message }) => `${path.slice(4).join(".")} ${message}`,
  );
};

test("tiers that rise, with falling shares, are accepted", () => {
  expect(faultsOf({ marginTiers: [{ bps: 0 }] })).toEqual([]);
  expect(faultsOf({ marginTiers: [{ upToUsd: "0.5", bps: 4 }, { bps: 1 }] })).toEqual([]);
});

test.each([
  {
    name: "end below the one before",
    marginTiers: [{ upToUsd: "10", bps: 4 }, { upToUsd: "9", bps: 2 }, { bps: 1 }],
  },
  { name: "charge more for more", marginTiers: [{ upToUsd: "10", bps: 4 }, { bps: 5 }] },
  { name: "have an end after all", marginTiers: [{ upToUsd: "10", bps: 4 }] },
  { name: "have none in the middle", marginTiers: [{ bps: 4 }, { bps: 1 }] },
])("tiers that $name are refused", ({ marginTiers }) => {
  expect(faultsOf({ marginTiers })).toEqual([
    "marginTiers must have rising upToUsd, all but the last, and falling bps",
  ]);
});

test("limits name tokens of the bridge, and a least amount that is not above the most", () => {
  expect(
    faultsOf({ limits: { USDC: { min: "1", max: "2.5" }, WETH: { min: "0.01" } } }),
  ).toEqual([]);
  expect(faultsOf({ limits: { USDX: { max: "1" } } })).toEqual([
    "limits names a token that the bridge does not carry",
  ]);
  expect(faultsOf({ limits: { USDC: { min: "2", max: "1" } } })).toEqual([
    "limits.USDC min is above max",
  ]);
});
