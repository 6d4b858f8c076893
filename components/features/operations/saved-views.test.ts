import { expect, test } from "vitest";
import { parseViews, withView } from "./saved-views";

test("what another program left in the browser's storage is no view", () => {
  for (const text of [null, "", "{}", "[1]", '[{"name":"","search":""}]'])
    expect(parseViews(text), String(text)).toEqual([]);
});

test("saving under a known name replaces that view, and a full list loses its oldest", () => {
  const full = Array.from({ length: 20 }, (_, index) => ({
    name: `View ${String(index)}`,
    search: "status=failed",
  }));
  const replaced = withView(full, { name: "View 3", search: "kind=swap" });
  expect(replaced).toHaveLength(20);
  expect(replaced.at(-1)).toEqual({ name: "View 3", search: "kind=swap" });
  expect(withView(full, { name: "New", search: "" }).map(({ name }) => name)).not.toContain(
    "View 0",
  );
  expect(parseViews(JSON.stringify(replaced))).toEqual(replaced);
});
