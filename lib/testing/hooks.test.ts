import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const HOOK = /^(?:afterEach|afterAll|beforeEach|beforeAll)\(/m;

test("no module that test files share registers a hook when it is loaded: files of one worker load it once, so the others would go without", () => {
  const shared = readdirSync("lib/testing", { encoding: "utf8" }).filter((name) => /(?<!\.test)\.ts$/.test(name));
  expect(shared.length).toBeGreaterThan(50);
  expect(shared.filter((name) => HOOK.test(readFileSync(`lib/testing/${name}`, "utf8")))).toEqual([]);
});
