import { expect, test } from "vitest";
import { entryArguments } from "./entry";

test("an entry is its source under tsx beside sources, and its bundle beside a bundle", () => {
  expect(entryArguments("file:///app/lib/stack/main.ts", "../dev/devnet/host")).toEqual([
    ...["--import", "tsx"],
    "/app/lib/dev/devnet/host.ts",
  ]);
  expect(entryArguments("file:///app/dist/stack.js", "../dev/devnet/host")).toEqual([
    "--enable-source-maps",
    "/app/dist/host.js",
  ]);
});
