import { afterAll, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";

const jar = new Map<string, string>();
vi.doMock("next/headers", () => ({
  cookies: () =>
    Promise.resolve({
      get: (name: string) => (jar.has(name) ? { value: jar.get(name) } : undefined),
    }),
}));
afterAll(() => {
  vi.doUnmock("next/headers");
  vi.resetModules();
});
const { readPreferences } = await import("./preferences");

test("a page names the project of the cookie, and none when the cookie holds no project", async () => {
  expect(await readPreferences()).toEqual({
    project: null,
    amountsHidden: null,
    firstStepsHidden: null,
  });
  const id = newId("project");
  jar.set("causeway.project", id);
  expect(await readPreferences()).toMatchObject({ project: id });
  // A header with a line break causes an error, and then no page could be rendered.
  for (const value of ["prj_\n", "prj_\u00fc\u4e00", "a project", newId("wallet")]) {
    jar.set("causeway.project", value);
    expect(await readPreferences(), value).toMatchObject({ project: null });
  }
});
