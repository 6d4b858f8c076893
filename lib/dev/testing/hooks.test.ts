import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const HOOK = /^(?:afterEach|afterAll|beforeEach|beforeAll)\(/m;
const INDENTED_AFTER_ALL = /^[ \t]+afterAll\(/m;

test("no module that test files share registers a hook when it is loaded: files of one worker load it once, so the others would go without", () => {
  const shared = readdirSync("lib/dev/testing", { encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.ts$/.test(name))
    .filter((name) => name !== "setup.ts");
  expect(shared.length).toBeGreaterThan(50);
  expect(
    shared.filter((name) => HOOK.test(readFileSync(`lib/dev/testing/${name}`, "utf8"))),
  ).toEqual([]);
});

test("`afterAll` stands outside of functions: vitest ignores one that is called while tests run, where `afterFile` works", () => {
  const files = ["lib", "app", "components", "scripts"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  expect(files.filter((file) => INDENTED_AFTER_ALL.test(readFileSync(file, "utf8")))).toEqual(
    [],
  );
});
