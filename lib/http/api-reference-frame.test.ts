import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";

const TOKEN = "token-of-the-person";
const ORIGIN = "http://localhost:3000";

/** A script element whose script is loaded immediately when it is requested. */
const element = () => ({
  append: () => undefined,
  addEventListener: (event: string, done: () => void) => {
    if (event === "load") done();
  },
  classList: { contains: () => false, toggle: () => undefined },
  dataset: { renderer: "/renderer.js" },
  nonce: "n",
});

/**
 * Runs the frame's script with these cookies. Returns the headers with which a request of the
 * renderer is sent.
 */
const sentWith = async (cookie: string): Promise<Headers> => {
  const sent: Request[] = [];
  const send = (input: string | Request): Promise<Response> => {
    if (input instanceof Request) sent.push(input);
    return Promise.resolve(Response.json({ accessToken: TOKEN }));
  };
  const document = {
    ...{
      cookie,
      currentScript: element(),
      head: element(),
      body: element(),
      documentElement: element(),
    },
    ...{ styleSheets: [], createElement: element },
  };
  const createApiReference = vi.fn();
  const window = {
    parent: { document },
    fetch: send,
    location: { origin: ORIGIN },
    localStorage: { getItem: () => null },
  };
  const scope = {
    ...{
      document,
      window,
      fetch: send,
      Headers,
      Request,
      URL,
      performance,
      Scalar: { createApiReference },
    },
    getComputedStyle: () => ({ getPropertyValue: () => "" }),
    MutationObserver: class {
      observe(): void {
        // The theme never changes in this test.
      }
    },
  };
  runInContext(readFileSync("public/api-reference/frame.js", "utf8"), createContext(scope));
  await vi.waitFor(() => expect(createApiReference).toHaveBeenCalled(), 8_000);
  await window.fetch(
    new Request(`${ORIGIN}/api/auth/whoami`, { headers: { authorization: `Bearer ${TOKEN}` } }),
  );
  return sent.at(-1)?.headers ?? new Headers();
};

test("requests of the API reference name the project that the browser works in", async () => {
  const project = newId("project");
  expect((await sentWith(`a=1; causeway.project=${project}; b=2`)).get("x-project-id")).toBe(
    project,
  );
  expect((await sentWith(`causeway.project=${project}`)).get("x-project-id")).toBe(project);
});

test.each([
  "",
  "causeway.project=",
  "causeway.project=%0A",
  `x-causeway.project=${newId("project")}`,
])(
  "no project is named without a choice (%j), and the service takes the first one",
  async (cookie) => {
    const headers = await sentWith(cookie);
    expect(headers.get("authorization")).toBe(`Bearer ${TOKEN}`);
    expect(headers.get("x-project-id")).toBeNull();
  },
);
