import { describe, expect, test } from "vitest";
import type { Clock } from "@/lib/core/clock";
import { screeningContract } from "@/lib/trust/ports/screening.contract";
import { createListScreening, type LoadedList } from "./sanctions-list";

const LISTED = "0x00000000000000000000000000000000000000aa";
const CLEAR = "0x00000000000000000000000000000000000000bb";
const now = new Date("2026-11-24T00:00:00Z");
const clock: Clock = { now: () => now };

const list = (over: Partial<LoadedList> = {}): LoadedList => ({
  name: "ofac",
  version: 3,
  validUntil: new Date("2026-12-01T00:00:00Z"),
  addresses: new Set([LISTED]),
  ...over,
});

const sourceOf = (all: readonly LoadedList[]) =>
  createListScreening({ lists: { current: () => Promise.resolve(all) }, clock });
const verdictsOf = (all: readonly LoadedList[]) =>
  sourceOf(all).screen(
    [LISTED, CLEAR].map((address) => ({ address: address as `0x${string}`, chainId: null })),
    AbortSignal.timeout(10_000),
  );

screeningContract("the sanctions list", () => {
  let isDown = false;
  const current = () =>
    isDown ? Promise.reject(new Error("The database is down.")) : Promise.resolve([list()]);
  return Promise.resolve({
    source: createListScreening({ lists: { current }, clock }),
    listed: { address: LISTED, chainId: 1 },
    clear: { address: CLEAR, chainId: null },
    breakDown: () => Promise.resolve(void (isDown = true)),
  });
});

describe("sanctions lists", () => {
  test("cover nothing while none was imported", async () => {
    expect((await verdictsOf([])).map(({ state }) => state)).toEqual([
      "not_covered",
      "not_covered",
    ]);
    expect(await sourceOf([]).isActive()).toBe(false);
  });

  test("name the list and the version that they read", async () => {
    const other = list({ name: "eu", version: 7, addresses: new Set() });
    expect(await verdictsOf([other, list()])).toEqual([
      { state: "hit", source: "list:ofac", listVersion: "3", at: now },
      { state: "clear", source: "list:eu+ofac", listVersion: "7+3", at: now },
    ]);
  });

  test("still stop what they list when they are out of date, and clear nothing", async () => {
    expect((await verdictsOf([list({ validUntil: now })])).map(({ state }) => state)).toEqual([
      "hit",
      "unavailable",
    ]);
  });
});
