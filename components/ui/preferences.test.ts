import { afterEach, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { readPreference } from "./preferences";

afterEach(() => {
  vi.unstubAllGlobals();
});

const withCookies = (cookie: string): void => {
  vi.stubGlobal("document", { cookie });
};

test("the chosen project is read from its cookie", () => {
  const id = newId("project");
  withCookies(`other=1; causeway.project=${id}; causeway.amounts-hidden=1`);
  expect(readPreference("project")).toBe(id);
  expect(readPreference("amountsHidden")).toBe("1");
});

test.each([
  "%",
  "%E0%A4%A",
  "prj_%0A",
  "a%20project",
  "wal_0198c2b4-0000-7000-8000-000000000001",
  "",
])("a cookie that holds no project (%j) counts as no choice, and breaks no page", (value) => {
  withCookies(`causeway.project=${value}`);
  expect(readPreference("project")).toBeNull();
});
