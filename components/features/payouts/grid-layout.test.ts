import fc from "fast-check";
import { expect, test } from "vitest";
import { gridOf, positionAt } from "./grid-layout";

test("every cell is found at the place where it is drawn, and nothing beside the cells", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 250, max: 1_200 }),
      fc.nat(),
      (count, width, any) => {
        const grid = gridOf(count, width);
        const at = any % count;
        const x = (at % grid.columns) * grid.pitch;
        const y = Math.floor(at / grid.columns) * grid.pitch;
        expect(positionAt(grid, count, x + grid.size - 1, y + grid.size - 1)).toBe(at);
        expect(x + grid.size).toBeLessThanOrEqual(width);
        expect(y + grid.size).toBeLessThanOrEqual(grid.height);
      },
    ),
  );
  expect(positionAt(gridOf(3, 300), 3, 299, 0)).toBeNull();
  expect(positionAt(gridOf(3, 300), 3, -1, 0)).toBeNull();
});
