import { expect, test } from "vitest";
import { slippageBps } from "./slippage";

test.each([
  ["0", 0],
  ["0.5", 50],
  [" 0.05 ", 5],
  ["1,25", 125],
  [".1", 10],
  ["10", 1000],
  ["10.00", 1000],
])("the slippage %o is read", (text, bps) => {
  expect(slippageBps(text)).toBe(bps);
});

test.each(["", " ", ".", "1.", "10.01", "11", "100", "1.234", "1 000", "abc", "-1", "1.2.3"])(
  "%o is no slippage that is taken",
  (text) => {
    expect(slippageBps(text)).toBeNull();
  },
);
