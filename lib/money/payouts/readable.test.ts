import { expect, test, vi } from "vitest";
import { createUnreadNotes } from "./readable";

test("a payout that cannot be read is logged once, however often it is listed", () => {
  const warn = vi.fn();
  const note = createUnreadNotes({ warn });
  for (const id of ["po_1", "po_2", "po_1"]) note(id, new Error("form"));
  expect(warn.mock.calls.map(([fields]) => (fields as { payoutId: string }).payoutId)).toEqual([
    "po_1",
    "po_2",
  ]);
});
