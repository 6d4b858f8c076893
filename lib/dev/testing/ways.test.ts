import { expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import { RULE_NAMES } from "@/lib/contracts/policy-rules";
import { DECISIONS, GUARD_NAMES, MOVES_NOTHING, OTHER_WAYS, WAYS, WAYS_OF_KIND } from "./ways";

const ways = [
  ...Object.values(WAYS),
  ...Object.values(DECISIONS),
  ...Object.values(OTHER_WAYS),
].flatMap(({ routes }) => routes);
const others = Object.values(MOVES_NOTHING).flat();

test("every route that writes is a way in which money or a key can leave, or is known to move nothing", () => {
  const written = contracts
    .filter(({ auth, method }) => auth !== "public" && method !== "GET")
    .map(({ method, path }) => `${method} ${path}`);
  expect([...new Set([...ways, ...others])].sort()).toEqual([...new Set(written)].sort());
  expect(others.filter((route) => (ways as readonly string[]).includes(route))).toEqual([]);
});

test("the guards are the rules of policies and the setting", () => {
  expect([...GUARD_NAMES].sort()).toEqual(["setting", ...RULE_NAMES].sort());
});

test("each kind of movement has a way that is tried, and each way belongs to a kind", () => {
  for (const [kind, ways] of Object.entries(WAYS_OF_KIND)) expect(ways, kind).not.toEqual([]);
  const tried = Object.keys({ ...WAYS, ...DECISIONS });
  expect([...new Set(Object.values(WAYS_OF_KIND).flat())].sort()).toEqual(tried.sort());
});
