import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bestSplit, gridAmount, shareMinima, shareOut } from "./uniswap";

const STEPS = 20;
const output = fc.bigInt({ min: 0n, max: 10n ** 30n });
const row = fc
  .tuple(fc.array(fc.option(output), { minLength: STEPS - 1, maxLength: STEPS - 1 }), output)
  .map(([inner, whole]) => [0n, ...inner, whole]);
const table = fc.array(row, { minLength: 1, maxLength: 4 });
const weights = fc
  .array(fc.bigInt({ min: 0n, max: 10n ** 30n }), { minLength: 1, maxLength: 6 })
  .filter((parts) => parts.some((part) => part > 0n));
const amount = fc.bigInt({ min: 0n, max: 10n ** 40n });

const totalOf = (
  rows: readonly (readonly (bigint | null)[])[],
  taken: readonly number[],
): bigint =>
  taken.reduce(
    (sum, step, index) => sum + (step === 0 ? 0n : (rows[index]?.[step] ?? -(10n ** 60n))),
    0n,
  );

describe("bestSplit", () => {
  test("is never worse than the best single path, uses known entries alone and spends every step", () => {
    fc.assert(
      fc.property(table, (rows) => {
        const taken = bestSplit(rows, STEPS);
        expect(taken).not.toBeNull();
        if (taken === null) return;
        expect(taken.reduce((a, b) => a + b, 0)).toBe(STEPS);
        const single = rows
          .map((outs) => outs[STEPS] ?? 0n)
          .reduce((a, b) => (a > b ? a : b), 0n);
        expect(totalOf(rows, taken) >= single).toBe(true);
      }),
    );
  });

  test("agrees with trying everything", () => {
    const small = fc.array(
      fc.array(fc.bigInt({ min: 0n, max: 100n }), { minLength: 5, maxLength: 5 }),
      {
        minLength: 3,
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(small, (rows) => {
        const taken = bestSplit(rows, 4);
        let best = 0n;
        for (let a = 0; a <= 4; a += 1)
          for (let b = 0; a + b <= 4; b += 1) {
            const total = totalOf(rows, [a, b, 4 - a - b]);
            if (total > best) best = total;
          }
        expect(taken === null ? null : totalOf(rows, taken)).toBe(best);
      }),
    );
  });

  test("says so when the known entries cannot make up the whole", () => {
    expect(
      bestSplit(
        [
          [0n, 5n, null],
          [0n, null, null],
        ],
        2,
      ),
    ).toBeNull();
  });
});

test("shares sum to the whole exactly, and none is below its grid amount", () => {
  fc.assert(
    fc.property(amount, weights, (total, parts) => {
      expect(shareOut(total, parts).reduce((a, b) => a + b, 0n)).toBe(total);
    }),
  );
  fc.assert(
    fc.property(amount, fc.integer({ min: 0, max: STEPS }), (total, step) => {
      const [first = 0n, second = 0n] = shareOut(total, [BigInt(step), BigInt(STEPS - step)]);
      expect(first >= gridAmount(total, step, STEPS)).toBe(true);
      expect(second >= gridAmount(total, STEPS - step, STEPS)).toBe(true);
    }),
  );
});

test("the minima of the shares guarantee the minimum of the leg, and none asks for more than is expected", () => {
  fc.assert(
    fc.property(weights, fc.integer({ min: 0, max: 1000 }), (expected, slippageBps) => {
      const sum = expected.reduce((a, b) => a + b, 0n);
      const minimum = (sum * BigInt(10_000 - slippageBps)) / 10_000n;
      const minima = shareMinima(minimum, expected);
      expect(minima.reduce((a, b) => a + b, 0n) >= minimum).toBe(true);
      expect(minima.every((least, index) => least <= (expected[index] ?? 0n))).toBe(true);
    }),
  );
});
