import { expect, test } from "vitest";
import { isWorse } from "./form-model";

const quote = (expected: string, minimum: string) => ({
  expected: { amountBase: expected },
  minimum: { amountBase: minimum },
});

test("a quote has to be accepted again when it promises or expects less, and only then", () => {
  const seen = quote("1000", "990");
  expect(isWorse(seen, quote("1000", "990"))).toBe(false);
  expect(isWorse(seen, quote("1001", "991"))).toBe(false);
  expect(isWorse(seen, quote("999", "990"))).toBe(true);
  expect(isWorse(seen, quote("1200", "989"))).toBe(true);
  // As numbers, not as texts.
  expect(isWorse(quote("999", "99"), quote("1000", "100"))).toBe(false);
});
