import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { routesSource } from "./routes-source";

test("the route table names every route file: run `npm run generate` when it does not", () => {
  expect(readFileSync("lib/routes.gen.ts", "utf8")).toBe(routesSource("app"));
});
