import { describe, expect, test } from "vitest";
import { pointAt } from "./curves";
import { BAND_MIN, type Box, layoutFlow, type LayoutInput, thicknesses } from "./layout";

/** Park and Miller: the same cases in every run. */
const randoms = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
};

const HOPS = ["Uniswap v3", "Across", "Uniswap v3 again"];

const cases = (): LayoutInput[] => {
  const next = randoms(42);
  return Array.from({ length: 300 }, () => {
    const hopNames = HOPS.slice(0, next(4));
    const worths = Array.from({ length: 1 + next(10) }, () =>
      next(5) === 0 ? next(3) : next(1_000_000),
    );
    return {
      width: 280 + next(920),
      worths,
      hopNames,
      legHops: worths.map(() => hopNames.map((_, index) => index)),
    };
  });
};

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width - 0.01 &&
  b.x < a.x + a.width - 0.01 &&
  a.y < b.y + b.height - 0.01 &&
  b.y < a.y + a.height - 0.01;

describe("thicknesses", () => {
  test("are in proportion to the worths, and never below the least one", () => {
    for (const { worths } of cases()) {
      const bands = thicknesses(worths, 44);
      for (const band of bands) expect(band).toBeGreaterThanOrEqual(BAND_MIN);
      if (worths.some((worth) => worth > 0)) {
        expect(bands.reduce((sum, band) => sum + band, 0)).toBeCloseTo(44, 5);
        const thick = bands.flatMap((band, index) =>
          band > BAND_MIN + 0.01 ? [band / (worths[index] ?? 1)] : [],
        );
        for (const ratio of thick) expect(ratio / (thick[0] ?? ratio)).toBeCloseTo(1, 5);
      }
    }
  });

  test("120 and 80 are drawn as three to two", () => {
    const [first = 0, second = 0] = thicknesses([120, 80], 40);
    expect(first / second).toBeCloseTo(1.5, 8);
  });

  test("a leg that is worth next to nothing can still be seen", () => {
    expect(Math.min(...thicknesses([1_000_000, 1], 40))).toBe(BAND_MIN);
  });
});

describe("the layout", () => {
  test("keeps boxes, hops and coins inside of the picture", () => {
    for (const input of cases()) {
      const { width, height, sources, destination, hops, bands } = layoutFlow(input);
      expect(width).toBe(input.width);
      for (const box of [...sources, destination, ...hops]) {
        expect(box.x).toBeGreaterThanOrEqual(0);
        expect(box.y).toBeGreaterThanOrEqual(0);
        expect(box.x + box.width).toBeLessThanOrEqual(width + 0.01);
        expect(box.y + box.height).toBeLessThanOrEqual(height + 0.01);
      }
      for (const { curves, thickness } of bands)
        for (const share of [0, 0.25, 0.5, 0.75, 1]) {
          const { x, y } = pointAt(curves, share);
          expect(x - thickness / 2).toBeGreaterThanOrEqual(-0.01);
          expect(x).toBeLessThanOrEqual(width + 0.01);
          expect(y).toBeGreaterThanOrEqual(0);
          expect(y).toBeLessThanOrEqual(height + 0.01);
        }
    }
  });

  test("lays no box over another", () => {
    for (const input of cases()) {
      const { sources, destination, hops } = layoutFlow(input);
      const boxes = [...sources, destination, ...hops];
      boxes.forEach((a, index) => {
        for (const b of boxes.slice(index + 1)) expect(overlap(a, b)).toBe(false);
      });
    }
  });

  test("brings the bands to the destination beside each other", () => {
    for (const input of cases()) {
      const { bands, upright, destination } = layoutFlow(input);
      const ends = bands
        .map(({ curves, thickness }) => {
          const { x, y } = pointAt(curves, 1);
          return { at: upright ? x : y, thickness };
        })
        .sort((a, b) => a.at - b.at);
      ends.slice(1).forEach((end, index) => {
        const before = ends[index];
        if (before === undefined) return;
        expect(end.at - before.at).toBeGreaterThanOrEqual(
          (end.thickness + before.thickness) / 2 - 0.01,
        );
      });
      const whole = ends.reduce((sum, end) => sum + end.thickness, 0);
      expect(whole).toBeLessThanOrEqual(
        (upright ? destination.width : destination.height) + 0.01,
      );
    }
  });

  test("stands upright on phones", () => {
    const input = { worths: [1, 2], hopNames: ["Across"], legHops: [[0], [0]] };
    expect(layoutFlow({ ...input, width: 320 }).upright).toBe(true);
    expect(layoutFlow({ ...input, width: 1200 }).upright).toBe(false);
  });

  test("each hop sits on a band of a leg that uses it, at every width", () => {
    for (const input of cases()) {
      const { hops, bands } = layoutFlow(input);
      for (const hop of hops) {
        const isOnBand = bands.some(({ curves }) =>
          Array.from({ length: 41 }, (_, step) => pointAt(curves, step / 40)).some(
            ({ x, y }) =>
              x >= hop.x && x <= hop.x + hop.width && y >= hop.y && y <= hop.y + hop.height,
          ),
        );
        expect(isOnBand).toBe(true);
      }
    }
  });

  test("a single source is drawn as a line and not as a slab", () => {
    for (const width of [320, 480, 1100]) {
      const input = { width, worths: [5_000], hopNames: ["Across"], legHops: [[0]] };
      expect(layoutFlow(input).bands[0]?.thickness).toBeLessThanOrEqual(14);
    }
  });

  test("sources stand beside each other where two of them have room", () => {
    const input = { worths: [1, 2], hopNames: [], legHops: [[], []] };
    const topOf = (width: number) => layoutFlow({ ...input, width }).sources.map(({ y }) => y);
    expect(topOf(320)).toEqual([0, 0]);
    expect(topOf(260)[1]).toBeGreaterThan(0);
  });
});

test("a coin goes from the start of its band to the end", () => {
  const [band] = layoutFlow({ width: 1000, worths: [1], hopNames: [], legHops: [[]] }).bands;
  const xs = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => pointAt(band?.curves ?? [], share).x);
  expect([...xs].sort((a, b) => a - b)).toEqual(xs);
});
