import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftOut, LONGER_FORMS, SAMPLED } from "./long-tests.mjs";

const ROOT = join(import.meta.dirname, "..");

test("every file of the lists exists, so that none is left out by its name", () => {
  expect([...LONGER_FORMS, ...SAMPLED].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("a run leaves half of the sampled files out, the same for the same seed, and each of them runs with some seed", () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => String(seed));
  for (const seed of seeds) {
    expect(leftOut(seed)).toHaveLength(Math.floor(SAMPLED.length / 2));
    expect(leftOut(seed)).toEqual(leftOut(seed));
  }
  for (const file of SAMPLED) {
    const isOut = seeds.map((seed) => leftOut(seed).includes(file));
    expect(new Set(isOut), file).toEqual(new Set([true, false]));
  }
});
