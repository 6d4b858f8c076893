import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { defineContract } from "@/lib/contracts/contract";
import { createReadinessService } from "@/lib/core/readiness";
import { isAlive } from "@/lib/platform/os/process.mjs";
import { entryFile } from "@/lib/dev/testing/entry";
import { httpServices } from "@/lib/dev/testing/http-services";
import { createFastServer } from "./fast-server";
import { startPagesProcess, type PagesProcess } from "./pages-process";
import { createRoute } from "./pipeline";
import { ok } from "./reply";

/** Under load a process may take long to start. No test waits for a full start timeout. */
const WAIT = { timeout: 50_000, interval: 20 };

const health = defineContract({
  method: "GET",
  path: "/health",
  summary: "",
  tag: "",
  auth: "public",
  status: 200,
  response: z.object({ value: z.string() }),
});

// A separate temporary folder, because other servers on this machine have folders in the usual one.
const temporary = mkdtempSync(join(tmpdir(), "cw-"));
vi.stubEnv("TMPDIR", temporary);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Bounds = NonNullable<Parameters<typeof startPagesProcess>[0]["bounds"]>;

const start = async (bounds: Bounds = {}) => {
  const events: string[] = [];
  const pages: PagesProcess = await startPagesProcess({
    entry: entryFile("pages-stub"),
    publicUrl: "http://localhost:3000",
    nodeArguments: [],
    onEvent: (event) => events.push(event.type === "ended" ? event.reason : "ready"),
    bounds: { firstMs: 5, maxMs: 50, ...bounds },
  });
  stops.push(() => pages.stop());
  const services = httpServices();
  const route = createRoute(() => services);
  const fast = createFastServer({
    routes: [
      {
        path: "/api/health",
        module: { GET: route({ contract: health, handler: () => ok({ value: "fine" }) }) },
      },
    ],
    fallbackPrefixes: ["/api/auth/"],
    pages: (request) => pages.handle(request),
    pageHeaders: () => ({}),
    services,
  });
  stops.push(() => fast.close(100));
  fast.server.listen(0, "127.0.0.1");
  await once(fast.server, "listening");
  const origin = `http://127.0.0.1:${String((fast.server.address() as AddressInfo).port)}`;
  const page = async (path = "/", headers: Record<string, string> = {}) => {
    const answer = await fetch(origin + path, { headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const pageServed = () =>
    vi.waitFor(async () => expect((await page()).status).toBe(200), WAIT);
  return { pages, events, origin, page, pageServed };
};

/** A clock that jumps a second with each read, so that no answer is reused. */
const newSecond = (): (() => number) => {
  let ms = 0;
  return () => (ms += 1_000);
};

const kill = (pid: number | null): void => {
  if (pid === null) throw new Error("There are no pages to end.");
  process.kill(pid, "SIGKILL");
};

test("may be killed again and again under load: no API request fails, and the pages come back", async () => {
  const { pages, origin, page, pageServed, events } = await start();
  const state = { isLoading: true, answered: 0, failures: [] as unknown[] };
  const load = async (): Promise<void> => {
    while (state.isLoading) {
      const status = await fetch(`${origin}/api/health`).then(
        async (answer) => (await answer.text(), answer.status),
        (error: unknown) => error,
      );
      if (status === 200) state.answered += 1;
      else state.failures.push(status);
    }
  };
  const loads = Array.from({ length: 4 }, load);
  const pageStatuses = new Set<unknown>();
  for (let round = 0; round < 4; round += 1) {
    kill(pages.pid());
    const answeredBefore = state.answered;
    const seen = await page().then(({ status }) => status);
    pageStatuses.add(seen);
    await pageServed();
    await vi.waitFor(() => expect(state.answered).toBeGreaterThan(answeredBefore), WAIT);
  }
  state.isLoading = false;
  await Promise.all(loads);
  expect(state.failures).toEqual([]);
  expect([...pageStatuses].filter((status) => status !== 503 && status !== 200)).toEqual([]);
  expect(events).toEqual(
    Array.from({ length: 4 }, () => ["was ended by SIGKILL", "ready"]).flat(),
  );
});

test("while it is away browsers get a page that loads again, and programs an error body", async () => {
  const { pages, page, events, pageServed } = await start({ firstMs: 60_000, maxMs: 60_000 });
  await pageServed();
  kill(pages.pid());
  await vi.waitFor(() => expect(events).toEqual(["was ended by SIGKILL"]), WAIT);
  const shown = await page("/activity", { accept: "text/html,*/*" });
  expect([shown.status, shown.headers.get("retry-after")]).toEqual([503, "3"]);
  expect(shown.headers.get("content-type")).toContain("text/html");
  expect(shown.headers.get("cache-control")).toBe("no-store");
  expect(shown.text).toContain('<meta http-equiv="refresh" content="3">');
  expect(shown.text).toContain("prefers-color-scheme:dark");
  // The error page is self-contained, because other files could be missing too.
  expect(shown.text).not.toMatch(/<(script|link|img)|src=|url\(/);
  const asset = await page("/_next/static/x.js");
  const session = await page("/api/auth/session", { accept: "text/html" });
  for (const { status, text } of [asset, session]) {
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ code: "service_unavailable" });
  }
});

test("readiness asks for a page: it fails while the process is away, and while pages answer with a fault", async () => {
  const { pages, page, events, pageServed } = await start({ firstMs: 60_000, maxMs: 60_000 });
  await pageServed();
  const readiness = createReadinessService([], { monotonicMs: newSecond() });
  readiness.add({ name: "pages", check: (signal) => pages.check(signal) });
  expect(await readiness.check()).toMatchObject({
    status: "ready",
    parts: [{ name: "pages", ok: true }],
  });
  await page("/fault");
  expect(await readiness.check()).toMatchObject({
    status: "unavailable",
    parts: [
      {
        name: "pages",
        ok: false,
        detail: expect.stringContaining("answer with 500") as string,
      },
    ],
  });
  kill(pages.pid());
  await vi.waitFor(() => expect(events).toEqual(["was ended by SIGKILL"]), WAIT);
  expect(await readiness.check()).toMatchObject({
    status: "unavailable",
    parts: [
      { name: "pages", ok: false, detail: expect.stringContaining("does not run") as string },
    ],
  });
});

test("is replaced when a page ends it", async () => {
  const { page, pageServed, events } = await start();
  expect((await page("/end")).status).toBe(503);
  await pageServed();
  expect(events).toEqual(["ended with code 3", "ready"]);
});

test("is replaced when it answers nothing any more", async () => {
  const { page, pageServed, events } = await start({ probeEveryMs: 20, probeTimeoutMs: 5_000 });
  const hung = page("/hang");
  expect((await hung).status).toBe(503);
  await pageServed();
  expect(events).toEqual(["was ended by SIGKILL", "ready"]);
});

test("is replaced when its memory runs out", async () => {
  const { page, pageServed, events } = await start({ heapMb: 64 });
  expect((await page("/grow")).status).toBe(503);
  await pageServed();
  expect(events).toEqual([
    expect.stringMatching(/^(was ended by SIGABRT|ended with code 134)$/),
    "ready",
  ]);
});

test("is replaced when it has grown beyond its bound, before memory runs out", async () => {
  const { events } = await start({ memoryMb: 1, probeEveryMs: 20 });
  await vi.waitFor(
    () => expect(events.slice(0, 2)).toEqual(["was ended by SIGKILL", "ready"]),
    WAIT,
  );
});

test("that cannot start is said at once, and leaves nothing behind", async () => {
  const missing = startPagesProcess({
    entry: "/nowhere/pages.js",
    publicUrl: "http://localhost:3000",
    nodeArguments: [],
    onEvent: () => undefined,
  });
  await expect(missing).rejects.toThrow("The process of the pages ended with code 1.");
  expect(folders()).toEqual([]);
});

test("is ended with the server, and not started again", async () => {
  const { pages, events, pageServed } = await start();
  await pageServed();
  const pid = pages.pid();
  await pages.stop();
  expect([pid !== null && isAlive(pid), events]).toEqual([false, []]);
});

test("listens on no port, and its socket is in a folder of this user alone", async () => {
  const { pageServed } = await start();
  await pageServed();
  expect(folders()).toHaveLength(1);
  const folder = join(temporary, folders()[0] ?? "");
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(readdirSync(folder).every((name) => statSync(join(folder, name)).isSocket())).toBe(
    true,
  );
});

test("learns of the caller only from its parent", async () => {
  const { page } = await start();
  const { text } = await page("/activity", {
    "x-forwarded-for": "6.6.6.6",
    "x-forwarded-host": "evil.example",
  });
  expect(JSON.parse(text)).toMatchObject({
    path: "/activity",
    headers: {
      host: "localhost:3000",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": "localhost:3000",
    },
  });
});

const folders = (): string[] =>
  readdirSync(temporary).filter((name) => name.startsWith("causeway-pages-"));
