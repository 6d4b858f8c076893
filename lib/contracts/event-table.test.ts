import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withEventTable } from "./event-table";
import { EVENT_TYPES } from "./events";

const document = readFileSync("docs/webhooks.md", "utf8");

test("docs/webhooks.md has the types of events, their data and scopes as the contracts have them: run npm run generate", () => {
  expect(document).toBe(withEventTable(document));
});

test("the table of docs/webhooks.md names every type of event once", () => {
  const rows = document.split("\n").filter((line) => line.startsWith("| "));
  const cells = rows.map((row) => row.split(" | ")[0] ?? "");
  const named = cells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)].map(([, type]) => type),
  );
  expect(
    named.filter((type) => (EVENT_TYPES as readonly string[]).includes(type ?? "")).sort(),
  ).toEqual([...EVENT_TYPES].sort());
});
