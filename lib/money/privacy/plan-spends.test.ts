import fc from "fast-check";
import { expect, test } from "vitest";
import { bpsOfCeil } from "@/lib/core/money";
import { feeFloor, grossForAddress, grossForNote } from "@/lib/core/fees";
import { planSpends } from "./spend-request";

const amounts = fc.bigInt({ min: 1n, max: 10n ** 30n });
const bps = fc.integer({ min: 0, max: 500 });

test("a recipient gets exactly what was asked for, whatever the relayer takes", () => {
  fc.assert(
    fc.property(amounts, bps, (net, relayFeeBps) => {
      const gross = grossForAddress(net, relayFeeBps);
      expect(gross - feeFloor(relayFeeBps)(gross)).toBe(net);
    }),
  );
});

test("a new note is worth exactly what was asked for, after the relayer's and the pool's fee", () => {
  fc.assert(
    fc.property(amounts, bps, bps, (net, relayFeeBps, shieldFeeBps) => {
      const gross = grossForNote(net, { relayFeeBps, shieldFeeBps });
      const deposited = gross - bpsOfCeil(gross, relayFeeBps);
      expect(deposited - feeFloor(shieldFeeBps)(deposited)).toBe(net);
    }),
  );
});

const notesOf = (...values: number[]) =>
  values.map((value, index) => ({ id: String(index), valueBase: BigInt(value) }));
const grossOf = (net: bigint): bigint => net;

test("the smallest note that suffices is taken alone", () => {
  expect(planSpends(notesOf(100, 40, 60), 50n, { grossOf })).toEqual([
    { noteId: "2", withdrawBase: 50n, outBase: 50n },
  ]);
});

test("more than the largest note takes several, largest first, and no part is below the minimum", () => {
  expect(planSpends(notesOf(10, 40, 60), 62n, { grossOf, minimumBase: 5n })).toEqual([
    { noteId: "2", withdrawBase: 57n, outBase: 57n },
    { noteId: "1", withdrawBase: 5n, outBase: 5n },
  ]);
});

test("parts add up to the amount and fit their notes, or there is no plan because there is too little", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 4000 }),
      bps,
      (values, wanted, fee) => {
        const notes = notesOf(...values);
        const gross = (net: bigint): bigint => grossForAddress(net, fee);
        const plan = planSpends(notes, BigInt(wanted), { grossOf: gross });
        if (plan === null) {
          expect(gross(BigInt(wanted))).toBeGreaterThan(
            notes.reduce((sum, { valueBase }) => sum + valueBase, 0n) - BigInt(notes.length),
          );
          return;
        }
        expect(plan.reduce((sum, { outBase }) => sum + outBase, 0n)).toBe(BigInt(wanted));
        expect(new Set(plan.map(({ noteId }) => noteId)).size).toBe(plan.length);
        for (const { noteId, withdrawBase } of plan)
          expect(notes.find(({ id }) => id === noteId)?.valueBase).toBeGreaterThanOrEqual(
            withdrawBase,
          );
      },
    ),
  );
});
