import { expect, test } from "vitest";
import { renderBoard } from "./board";

test("the board shows each part with state and address, and the URL last", () => {
  const text = renderBoard(
    {
      parts: [
        {
          name: "PostgreSQL",
          state: "ready",
          detail: "taken over",
          address: "127.0.0.1:5432",
          tookMs: 120,
        },
        { name: "Local 1", state: "ready", address: "http://127.0.0.1:8545", tookMs: 3140 },
        { name: "Solver", state: "off" },
      ],
      url: "http://localhost:3000",
      readyMs: 4200,
      notes: ["Ctrl-C stops everything; data stays in .data"],
    },
    false,
  );
  expect(text).toMatchInlineSnapshot(`
    "
      Causeway is ready (4.2 s)

      ● PostgreSQL   ready, taken over   127.0.0.1:5432          0.1 s
      ● Local 1      ready               http://127.0.0.1:8545   3.1 s
      ○ Solver       off

      Ctrl-C stops everything; data stays in .data

      http://localhost:3000
    "
  `);
});

test("colour changes nothing but the marks", () => {
  const escape = String.fromCharCode(27);
  const board = {
    parts: [{ name: "Server", state: "failed" as const }],
    url: "u",
    readyMs: 1,
    notes: [],
  };
  expect(
    renderBoard(board, true).replaceAll(`${escape}[31m`, "").replaceAll(`${escape}[0m`, ""),
  ).toBe(renderBoard(board, false));
});
