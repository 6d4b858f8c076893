import { expect, test } from "vitest";
import { EVERY_RULE } from "@/lib/dev/testing/every-rule";
import { linesOf } from "./bounds";

const NONE = linesOf({});

test("the message of an approval has a line for every rule", () => {
  expect(NONE).toEqual(["No rule: no limit applies"]);
  const silent = Object.entries(EVERY_RULE).filter(
    ([rule, value]) => linesOf({ [rule]: value }).join() === NONE.join(),
  );
  expect(silent).toEqual([]);
});

test("the message of an approval says in words how addresses are screened", () => {
  const modes = ["off", "block_hits", "require_clear"] as const;
  expect(modes.flatMap((screening) => linesOf({ screening }))).toEqual([
    "Screening of addresses: off, also listed addresses are paid",
    "Screening of addresses: a listed address is not paid",
    "Screening of addresses: only an address that a source clears is paid, or its money moved",
  ]);
});
