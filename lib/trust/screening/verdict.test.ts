import { describe, expect, test } from "vitest";
import type { ScreeningState, ScreeningVerdict } from "@/lib/trust/ports/screening";
import { decisive, type ScreeningMode, stops, stricterMode } from "./service";

const STATES: readonly ScreeningState[] = ["clear", "hit", "not_covered", "unavailable"];
const verdict = (state: ScreeningState): ScreeningVerdict => ({
  state,
  source: "x",
  listVersion: null,
  at: new Date(0),
});
const together = (...states: ScreeningState[]) => decisive(states.map(verdict))?.state;

describe("what all sources say together", () => {
  test("is a hit whenever one of them has a hit", () => {
    for (const other of STATES)
      expect([together(other, "hit"), together("hit", other)]).toEqual(["hit", "hit"]);
  });

  test("is clear only when one has cleared and none has failed", () => {
    for (const a of STATES)
      for (const b of STATES) {
        const isClear =
          [a, b].includes("clear") &&
          [a, b].every((state) => ["clear", "not_covered"].includes(state));
        expect(together(a, b) === "clear").toBe(isClear);
      }
    expect(together("not_covered", "not_covered")).toBe("not_covered");
  });
});

test("require_clear lets nothing pass but clear; block_hits stops hits; off stops nothing", () => {
  const stopped = (mode: ScreeningMode) => STATES.filter((state) => stops(mode, state));
  expect(stopped("require_clear")).toEqual(["hit", "not_covered", "unavailable"]);
  expect(stopped("block_hits")).toEqual(["hit"]);
  expect(stopped("off")).toEqual([]);
});

test("the stricter of two modes does not depend on their order", () => {
  expect(stricterMode("off", "block_hits")).toBe("block_hits");
  expect(stricterMode("require_clear", "block_hits")).toBe("require_clear");
  expect(stricterMode("off", "off")).toBe("off");
});
