import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leftOut, leftOutJourneys, LONGER_FORMS, SAMPLED, SAMPLED_JOURNEYS } from "./long-tests.mjs";

const ROOT = join(import.meta.dirname, "..");

test("every file of the lists exists, so that none is left out by its name", () => {
  expect([...LONGER_FORMS, ...SAMPLED, ...SAMPLED_JOURNEYS].filter((file) => !existsSync(join(ROOT, file)))).toEqual(
    [],
  );
});

const SEEDS = Array.from({ length: 60 }, (_, seed) => String(seed));

test.each([
  ["integration tests", SAMPLED, leftOut, 6],
  ["journeys", SAMPLED_JOURNEYS, leftOutJourneys, 4],
] as const)(
  "a run takes a share of the sampled %s by its seed, and each of them runs with some seed",
  (_, names, out, size) => {
    for (const seed of SEEDS) {
      expect(out(seed)).toHaveLength(names.length - Math.ceil(names.length / size));
      expect(out(seed)).toEqual(out(seed));
    }
    for (const name of names) {
      const isOut = SEEDS.map((seed) => out(seed).includes(name));
      expect(new Set(isOut), name).toEqual(new Set([true, false]));
    }
  },
);
