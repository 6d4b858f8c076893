import { expect, test } from "vitest";
import { importList } from "@/lib/trust/screening/import-list";
import { createListSigner, listContent } from "@/lib/dev/testing/screening-list";
import { testServices } from "@/lib/dev/testing/services";

const HOUR_MS = 3_600_000;
const START = new Date("2026-11-26T09:00:00.000Z");
const clock = { ms: START.getTime(), now: () => new Date(clock.ms) };
const { database, metrics } = await testServices({ devnet: false, overrides: { clock } });
const signer = createListSigner();

const publish = async (list: string, version: number, validForHours: number): Promise<void> => {
  const [issuedAt, validUntil] = [0, validForHours].map((hours) =>
    new Date(clock.ms + hours * HOUR_MS).toISOString(),
  );
  const text = signer.file(listContent({ list, version, issuedAt, validUntil }));
  await importList({ database, keys: signer.keys, clock }, { text, by: "test" });
};

/** The values of the gauge by the name of the list. */
const shown = async (): Promise<Record<string, number>> => {
  const series = /^causeway_screening_list_valid_seconds\{list="(\w+)"\} (\S+)$/gm;
  const found: Record<string, number> = {};
  for (const [, list = "", seconds] of (await metrics.render()).matchAll(series))
    found[list] = Number(seconds);
  return found;
};

test("each list shows for how long its newest version is still valid, below zero once it is out of date", async () => {
  await publish("ofac", 1, 1);
  await publish("eu", 1, 24);
  expect(await shown()).toEqual({ ofac: 3_600, eu: 86_400 });
  clock.ms += HOUR_MS;
  expect(await shown()).toEqual({ ofac: 0, eu: 82_800 });
  clock.ms += HOUR_MS;
  expect(await shown()).toEqual({ ofac: -3_600, eu: 79_200 });
  clock.ms += HOUR_MS;
  await publish("ofac", 2, 2);
  expect(await shown()).toEqual({ ofac: 7_200, eu: 75_600 });
});
