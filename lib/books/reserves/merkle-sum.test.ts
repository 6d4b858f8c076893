import fc from "fast-check";
import { expect, test } from "vitest";
import { leafNode, rootOf, type SumLeaf, sumLevels, sumProof } from "./sum-trees";

const leavesOf = (balances: readonly bigint[]): SumLeaf[] =>
  balances.map((balance, index) => ({
    assetId: "usd-coin",
    accountId: `ga_${String(index)}`,
    salt: `s${String(index)}`,
    balance,
  }));

const rootOfAll = (leaves: readonly SumLeaf[]) => sumLevels(leaves).at(-1)?.[0];

test("every account's proof yields the root, whose sum is the sum of all balances", () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt(0n, 10n ** 30n), { minLength: 1, maxLength: 70 }),
      (balances) => {
        const leaves = leavesOf(balances);
        const levels = sumLevels(leaves);
        const root = levels.at(-1)?.[0];
        expect(root?.sum).toBe(balances.reduce((sum, balance) => sum + balance, 0n));
        leaves.forEach((leaf, index) =>
          expect(rootOf(leaf, sumProof(levels, index))).toEqual(root),
        );
      },
    ),
  );
});

test("a leaf with another balance, owner, asset or salt yields another root", () => {
  const leaves = leavesOf([5n, 7n, 11n]);
  const [leaf] = leaves;
  if (!leaf) throw new Error("There are three leaves.");
  const steps = sumProof(sumLevels(leaves), 0);
  const root = rootOfAll(leaves)?.hash;
  for (const change of [
    { balance: 6n },
    { accountId: "ga_9" },
    { assetId: "tether" },
    { salt: "s9" },
  ]) {
    expect(rootOf({ ...leaf, ...change }, steps).hash).not.toBe(root);
  }
});

test("a sibling's sum cannot be changed or made negative", () => {
  const leaves = leavesOf([5n, 7n]);
  const [leaf] = leaves;
  const [step] = sumProof(sumLevels(leaves), 0);
  if (!leaf || !step) throw new Error("There are two leaves.");
  expect(rootOf(leaf, [{ ...step, sum: 1n }]).hash).not.toBe(rootOfAll(leaves)?.hash);
  expect(() => rootOf(leaf, [{ ...step, sum: -7n }])).toThrow(RangeError);
});

test("a node cannot be presented as a leaf, and adjacent texts are not ambiguous", () => {
  const one = leafNode({ assetId: "ab", accountId: "c", salt: "d", balance: 1n });
  const other = leafNode({ assetId: "a", accountId: "bc", salt: "d", balance: 1n });
  expect(one.hash).not.toBe(other.hash);
});

test("the root of known leaves matches an independent computation", () => {
  expect(rootOfAll(leavesOf([1n, 2n, 3n]))).toMatchInlineSnapshot(`
    {
      "hash": "0x6060c26c33604a428d4c3b5539c71091fb8a7eb9e0de6dc979cf653d8a264dfa",
      "sum": 6n,
    }
  `);
});
