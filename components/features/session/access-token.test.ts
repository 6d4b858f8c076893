import { expect, test } from "vitest";
import { createTokenSource } from "./access-token";

const setUp = () => {
  const state = { nowMs: 0, answer: "token-1" as string | null | Error, asked: 0 };
  const source = createTokenSource({
    read: () => {
      state.asked += 1;
      return state.answer instanceof Error
        ? Promise.reject(state.answer)
        : Promise.resolve(state.answer);
    },
    nowMs: () => state.nowMs,
  });
  return { source, state };
};

test("calls at the same time ask once, and later calls use the answer for four minutes", async () => {
  const { source, state } = setUp();
  expect(await Promise.all([source.current(), source.current()])).toEqual([
    "token-1",
    "token-1",
  ]);
  state.nowMs = 239_999;
  state.answer = "token-2";
  expect(await source.current()).toBe("token-1");
  expect(state.asked).toBe(1);
  state.nowMs = 240_000;
  expect(await source.current()).toBe("token-2");
});

test("without any token a failed question is the caller's error, and the next call asks again", async () => {
  const { source, state } = setUp();
  state.answer = new Error("away");
  await expect(source.current()).rejects.toThrow("away");
  state.answer = "token-1";
  expect(await source.current()).toBe("token-1");
});

test("the last token stays while the service does not answer, and when the session has ended", async () => {
  const { source, state } = setUp();
  await source.current();
  for (const answer of [new Error("away"), null]) {
    source.expire();
    state.answer = answer;
    expect(await source.current()).toBe("token-1");
  }
  expect(state.asked).toBe(3);
});
