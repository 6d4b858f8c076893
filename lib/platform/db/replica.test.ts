import { expect, test } from "vitest";
import { createReplica, parsePlace } from "./replica";

interface Answer {
  isReplica: boolean;
  place: string;
  lag: number;
}

/** A replica that answers with the most recent row of the test, at a time that the test sets. */
const world = (first: Answer) => {
  const state = { answer: first as Answer | Error, nowMs: 0, asked: 0 };
  const query = (): Promise<{ rows: Answer[] }> => {
    state.asked += 1;
    return state.answer instanceof Error
      ? Promise.reject(state.answer)
      : Promise.resolve({ rows: [state.answer] });
  };
  return {
    state,
    replica: createReplica({ pool: { query } as never, monotonicMs: () => state.nowMs }),
  };
};

const AT_TEN = { isReplica: true, place: "0/10", lag: 0.2 };

test("places are compared as 64-bit numbers of two parts", () => {
  expect(parsePlace("16/B374D848")).toBe(0x16_b374_d848n);
  expect(parsePlace("1/0")).toBeGreaterThan(parsePlace("0/FFFFFFFF") ?? 0n);
  for (const text of ["", "16", "16/", "16/B374D8480", "x/1", "1/2/3"])
    expect(parsePlace(text), text).toBeNull();
});

test("a replica serves whoever wrote nothing, and whoever wrote up to where it is, with one question a second", async () => {
  const { state, replica } = world(AT_TEN);
  expect(
    await Promise.all([replica.has(null), replica.has(null), replica.has("0/10")]),
  ).toEqual([true, true, true]);
  expect(await replica.has("0/F")).toBe(true);
  expect(state.asked).toBe(1);
  state.nowMs += 1_001;
  expect(await replica.has(null)).toBe(true);
  expect(state.asked).toBe(2);
});

test("it does not serve who wrote later, until it has come as far", async () => {
  const { state, replica } = world(AT_TEN);
  expect(await replica.has("0/11")).toBe(false);
  expect(await replica.has(null)).toBe(true);
  state.answer = { ...AT_TEN, place: "0/11" };
  expect(await replica.has("0/11")).toBe(true);
});

test.each([
  ["lags by more than ten seconds", { ...AT_TEN, lag: 10.5 }],
  ["has replayed nothing", { ...AT_TEN, lag: Number.POSITIVE_INFINITY }],
  ["was promoted", { ...AT_TEN, isReplica: false }],
])("it serves nobody when it %s", async (_, answer) => {
  const { replica } = world(answer);
  expect(await replica.has(null)).toBe(false);
  expect(await replica.has("0/1")).toBe(false);
});

test("a token of another form is served by the primary", async () => {
  const { replica } = world(AT_TEN);
  expect(await replica.has("'; DROP TABLE")).toBe(false);
});

test("a replica that does not answer is left alone for five seconds, and asked again then", async () => {
  const { state, replica } = world(AT_TEN);
  state.answer = new Error("gone");
  expect(await replica.has(null)).toBe(false);
  state.answer = AT_TEN;
  state.nowMs += 4_000;
  expect(await replica.has(null)).toBe(false);
  expect(state.asked).toBe(1);
  state.nowMs += 1_001;
  expect(await replica.has(null)).toBe(true);
});
