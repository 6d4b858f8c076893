import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { queryKeyOf } from "@/components/features/session/api-query";
import { contracts } from "@/lib/contracts/all";
import { CHANGE_KINDS } from "@/lib/contracts/changes";
import { getOperation, getReserves, listOperations } from "@/lib/api-client/calls.gen";
import { changedKeys } from "./changed-keys";

test("a changed operation makes every list of operations old, and of single operations only its own record", async () => {
  const client = new QueryClient();
  const list = queryKeyOf(listOperations, { query: { limit: 5 } });
  const pages = [...queryKeyOf(listOperations), "pages", {}];
  const [own, other] = ["op_1", "op_2"].map((id) =>
    queryKeyOf(getOperation, { params: { id } }),
  );
  for (const key of [list, pages, own ?? [], other ?? []]) client.setQueryData(key, {});
  for (const queryKey of changedKeys({ kind: "operations", id: "op_1" }))
    await client.invalidateQueries({ queryKey });
  const isOld = (key: readonly unknown[] = []) => client.getQueryState(key)?.isInvalidated;
  expect([isOld(list), isOld(pages), isOld(own), isOld(other)]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test.each(["balances", "accounts"] as const)(
  "a change of %s makes the reserves old, which depend on both",
  (kind) => {
    expect(changedKeys({ kind, id: null })).toContainEqual(queryKeyOf(getReserves));
  },
);

test.each(CHANGE_KINDS)("a change of %s names kept answers", (kind) => {
  expect(changedKeys({ kind, id: null }).length).toBeGreaterThan(0);
});

test("every path is that of a route that is read with GET", () => {
  const routes = contracts.filter(({ method }) => method === "GET").map(({ path }) => path);
  for (const [method, path] of changedKeys({ kind: "all", id: null })) {
    expect(method).toBe("GET");
    expect(routes).toContain(path);
  }
});
