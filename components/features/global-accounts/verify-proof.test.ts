import fc from "fast-check";
import { expect, test } from "vitest";
import { sumLevels, sumProof } from "@/lib/books/reserves/sum-trees";
import { holds, type ReservesProof } from "./verify-proof";

const proofOf = (balances: readonly bigint[], index: number): ReservesProof => {
  const leaves = balances.map((balance, at) => ({
    assetId: "usd-coin",
    accountId: `ga_${String(at)}`,
    salt: `sält ${String(at)}`,
    balance,
  }));
  const levels = sumLevels(leaves);
  const root = levels.at(-1)?.[0];
  if (root === undefined) throw new Error("There is a leaf.");
  return {
    version: 1,
    assetId: "usd-coin",
    currency: "USDC",
    decimals: 6,
    accountId: `ga_${String(index)}`,
    balanceBase: String(balances[index]),
    salt: `sält ${String(index)}`,
    index,
    siblings: sumProof(levels, index).map(({ hash, sum, side }) => ({
      hash,
      sumBase: String(sum),
      side,
    })),
    root: { hash: root.hash, sumBase: String(root.sum) },
    asOf: "2026-11-21T00:00:00.000Z",
  };
};

test("the browser finds right what the service proves, for every account of trees of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.bigInt(0n, 10n ** 30n), { minLength: 1, maxLength: 40 }),
      fc.nat(),
      async (balances, pick) => {
        expect(await holds(proofOf(balances, pick % balances.length))).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test("the browser finds out another balance, owner, salt, neighbour or root", async () => {
  const proof = proofOf([5n, 7n, 11n], 0);
  const [first, ...rest] = proof.siblings;
  if (first === undefined) throw new Error("There is a neighbour.");
  const changes: Partial<ReservesProof>[] = [
    { balanceBase: "6" },
    { balanceBase: "x" },
    { accountId: "ga_9" },
    { salt: "" },
    { siblings: [{ ...first, sumBase: "1" }, ...rest] },
    { siblings: [{ ...first, sumBase: "-7" }, ...rest] },
    { siblings: rest },
    { root: { ...proof.root, sumBase: "22" } },
    { root: { ...proof.root, hash: first.hash } },
  ];
  for (const change of changes) expect(await holds({ ...proof, ...change })).toBe(false);
});
