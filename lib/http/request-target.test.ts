import fc from "fast-check";
import { expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import { readTarget, requireCleanQuery } from "./request-target";

const outcome = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return isDomainError(error) ? error.code : error;
  }
};

test.each([
  ["/", "/", ""],
  ["/api/health", "/api/health", ""],
  ["/api/things?x=a%00&y=//", "/api/things", "?x=a%00&y=//"],
  ["/api/things/", "/api/things/", ""],
  ["/_next/static/chunks/a.b-c_d.js", "/_next/static/chunks/a.b-c_d.js", ""],
  ["/%61pi/health", "/api/health", ""],
  ["/a%20b/%E2%82%AC", "/a%20b/%E2%82%AC", ""],
  ["http://other.example/api/health?x=1", "/api/health", "?x=1"],
  ["HTTPS://other.example", "/", ""],
  ["http://other.example?x=1", "/", "?x=1"],
  ["/...", "/...", ""],
])("%s is read as %s", (raw, path, search) => {
  expect(readTarget(raw)).toEqual({ path, search });
});

test.each([
  "",
  "*",
  "api/health",
  "//evil.example/api/health",
  "/x//api/health",
  "/x/../api/health",
  "/x/%2e%2e/api/health",
  "/x/.%2E/api/health",
  "/./api/health",
  "/api/.",
  "/api/..",
  "/x\\..\\api",
  "/api/auth/jwks%ff",
  "/api/%zz",
  "/api/%",
  "/api/%00",
  "/api/%0d%0aset-cookie:x",
  "/api/%250d",
  "/api/health#x",
  "/api/\u00e9",
  "/api/a b",
  "http://other.example//evil",
  "ftp://other.example/x",
])("%s is malformed", (raw) => {
  expect(outcome(() => readTarget(raw))).toBe("invalid_request");
});

test.each([
  "/x%2f..%2fapi/health",
  "/x%5C..%5Capi/health",
  "/x/%252e%252e/api/health",
  "/things/a%252Fb",
])("%s hides a separator, and names nothing", (raw) => {
  expect(outcome(() => readTarget(raw))).toBe("not_found");
});

test("whatever is accepted means the same path to every reader that resolves it, however often it decodes it", () => {
  const piece = fc.constantFrom(
    ..."/ . .. // %2e %2E%2e %2f %5c %25 2e 2f \\ api health a ? # %00 %ff %61 : @ http://x ; = & %252e".split(
      " ",
    ),
  );
  const targets = fc.array(piece, { maxLength: 10 }).map((pieces) => `/${pieces.join("")}`);
  fc.assert(
    fc.property(targets, (raw) => {
      const target = outcome(() => readTarget(raw)) as ReturnType<typeof readTarget> | string;
      if (typeof target === "string") return;
      const { path, search } = target;
      expect(new URL(`http://here.example${path}${search}`).pathname).toBe(path);
      const once = decodeURIComponent(path);
      expect(once.split("/")).toHaveLength(path.split("/").length);
      // A server that decodes before it resolves the path finds the same path.
      expect(once.split("/").filter((segment) => segment === ".." || segment === ".")).toEqual(
        [],
      );
      expect(once.replaceAll("\\", "/").split("/")).toHaveLength(path.split("/").length);
      expect(readTarget(path)).toEqual({ path, search: "" });
    }),
    { numRuns: 5_000 },
  );
});

test.each(["?error=%0d%0a", "?x=%00", "?x=%7F", "?x=%ff", "?x=%"])(
  "the query %s goes to no page",
  (search) => {
    expect(outcome(() => requireCleanQuery(search))).toBe("invalid_request");
  },
);

test.each(["", "?x=1", "?from=%2Factivity%3Fq%3D%E2%82%AC", "?a=b+c"])(
  "the query %s does",
  (search) => {
    expect(outcome(() => requireCleanQuery(search))).toBeUndefined();
  },
);
