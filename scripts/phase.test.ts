import { expect, test } from "vitest";
import { phase } from "./phase.mjs";

test("a phase shows its name first and its seconds when it is done", async () => {
  const lines: string[] = [];
  const result = await phase(
    (line) => lines.push(line),
    { name: "Build", hint: "about a minute" },
    () => {
      expect(lines).toEqual(["  Build … (about a minute)"]);
      return Promise.resolve(7);
    },
  );
  expect(result).toBe(7);
  expect(lines[1]).toMatch(/^ {2}✓ Build +\d+\.\d s$/);
});

test("a phase that fails shows no time", async () => {
  const lines: string[] = [];
  const failing = phase(
    (line) => lines.push(line),
    { name: "Build" },
    () => Promise.reject(new Error("no disk")),
  );
  await expect(failing).rejects.toThrow("no disk");
  expect(lines).toEqual(["  Build …"]);
});
