import { readFileSync } from "node:fs";
import { keccak256, encodePacked, type Address } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { privacyPoolsConfig } from "./chains";

const SCALARS = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const NATIVE_ASSET = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
const presets = z.object({ note: z.string(), chains: z.record(z.string(), privacyPoolsConfig) });

/** Scopes that the project's website names for its pools of coins: they follow from chain, pool and asset. */
const SCOPES: Readonly<Record<string, bigint>> = {
  "1": 4916574638117198869413701114161172350986437430914933850166949084132905299523n,
  "10": 16871220592891773056516988350205562991488723955554544490977388368863952064937n,
  "56": 11123939809302748675379459504943549959694064271441044886820019404791514187711n,
  "42161": 8660557530481358570801571473337513404087042974825976936311383951650375938465n,
  "11155111": 13541713702858359530363969798588891965037210808099002426745892519913535247342n,
};

test("the presets for public networks name pools whose scopes are those that the protocol's website knows", () => {
  const { note, chains } = presets.parse(
    JSON.parse(readFileSync(new URL("chains/privacy-pools.presets.json", import.meta.url), "utf8")),
  );
  expect(note).toContain("Not run here");
  expect(Object.keys(chains).sort()).toEqual(Object.keys(SCOPES).sort());
  for (const [chainId, { pools }] of Object.entries(chains)) {
    const pool = pools.find(({ asset }) => asset === "native")?.pool as Address;
    const packed = encodePacked(["address", "uint256", "address"], [pool, BigInt(chainId), NATIVE_ASSET]);
    expect(BigInt(keccak256(packed)) % SCALARS).toBe(SCOPES[chainId]);
  }
});
