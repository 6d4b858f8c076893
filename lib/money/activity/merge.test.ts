import fc from "fast-check";
import { expect, test } from "vitest";
import { mergePages, type Movement, type SourcePage } from "./movements";

const uuid = (number: number): string =>
  `01980000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
const movement = (number: number): Movement =>
  ({ type: "operation", id: `op_${uuid(number)}` }) as Movement;
const numberOf = ({ id }: Pick<Movement, "id">): number => Number.parseInt(id.slice(-12), 16);

/** A list that is read newest first. */
const pageOf = (
  rows: readonly number[],
  { before, limit }: { before: number; limit: number },
): SourcePage => {
  const older = rows.filter((row) => row < before).sort((a, b) => b - a);
  const read = older.slice(0, limit);
  const last = read.at(-1);
  return {
    movements: read.map(movement),
    readDownTo: older.length > limit && last !== undefined ? uuid(last) : null,
  };
};

test("pages of any number of lists show every movement once, newest first", () => {
  const lists = fc
    .uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 60 })
    .chain((rows) =>
      fc.record({
        lists: fc.array(fc.integer({ min: 0, max: 2 }), {
          minLength: rows.length,
          maxLength: rows.length,
        }),
        rows: fc.constant(rows),
        limit: fc.integer({ min: 1, max: 8 }),
      }),
    );
  fc.assert(
    fc.property(lists, ({ lists: listOf, rows, limit }) => {
      const shown: number[] = [];
      let before = Number.MAX_SAFE_INTEGER;
      for (let turn = 0; turn <= rows.length; turn += 1) {
        const pages = [0, 1, 2].map((list) =>
          pageOf(
            rows.filter((_, index) => listOf[index] === list),
            { before, limit },
          ),
        );
        const { movements, next } = mergePages(pages, limit);
        expect(movements.length).toBeLessThanOrEqual(limit);
        shown.push(...movements.map(numberOf));
        if (next === null) break;
        before = Number.parseInt(next.slice(-12), 16);
      }
      expect(shown).toEqual([...rows].sort((a, b) => b - a));
    }),
  );
});
