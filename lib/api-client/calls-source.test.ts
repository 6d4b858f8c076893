import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { callsSource } from "./calls-source";

test("the calls of the client are those of the contracts: run `npm run generate` when they are not", () => {
  expect(readFileSync("lib/api-client/calls.gen.ts", "utf8")).toBe(callsSource(namedContracts));
});
