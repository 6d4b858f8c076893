import { expect, test } from "vitest";
import { createRouteTable } from "./route-table";

const find = createRouteTable(
  [
    "/api/operations",
    "/api/operations/[id]",
    "/api/operations/[id]/events",
    "/api/operations/latest",
    "/api/[kind]/latest/events",
    "/api/openapi.json",
    "/api/[...rest]",
  ].map((path) => ({ path })),
);

test.each([
  ["/api/operations", "/api/operations", {}],
  ["/api/operations/op_1", "/api/operations/[id]", { id: "op_1" }],
  ["/api/operations/a%2Fb", "/api/operations/[id]", { id: "a/b" }],
  ["/api/operations/op_1/events", "/api/operations/[id]/events", { id: "op_1" }],
  ["/api/operations/latest", "/api/operations/latest", {}],
  ["/api/operations/latest/events", "/api/operations/[id]/events", { id: "latest" }],
  ["/api/openapi.json", "/api/openapi.json", {}],
  ["/api/nothing/here/at/all", "/api/[...rest]", {}],
  ["/api/operations/%E0%A4%A", "/api/[...rest]", {}],
])("%s is served by %s", (path, pattern, params) => {
  expect(find(path)).toEqual({ entry: { path: pattern }, params });
});

test("what is not below the API is nobody's", () => {
  expect(find("/sign-in")).toBeNull();
  expect(find("/api")).toBeNull();
  expect(find("/apix/operations")).toBeNull();
});
