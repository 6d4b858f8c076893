import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { expect, test } from "./support/test";
import { signIn } from "./support/sign-in";

const ORIGIN = new URL(process.env.E2E_BASE_URL ?? "http://localhost:3000");

/** Sends a request line unchanged. HTTP clients would normalise it. */
const raw = async (
  target: string,
  { method = "GET", headers = "", body = "" } = {},
): Promise<string> => {
  const socket = connect(Number(ORIGIN.port), ORIGIN.hostname);
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  const length = body === "" ? "" : `content-length: ${String(Buffer.byteLength(body))}\r\n`;
  socket.write(
    `${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}${length}\r\n${body}`,
  );
  await new Promise((resolve) => socket.once("close", resolve));
  return text;
};

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);

const JSON_TYPE = "content-type: application/json\r\n";

test("odd requests are answered once, never with 500, and never by Next's copy of the API", async () => {
  const odd: [string, number, Parameters<typeof raw>[1]?][] = [
    ["/x/../api/health", 400],
    ["/x/%2e%2e/api/health", 400],
    ["//api/health", 400],
    ["/x/..%2fapi/health", 404],
    ["/x/%252e%252e/api/health", 404],
    ["/%61pi/health", 200],
    ["/api/auth/jwks%ff", 400],
    ["/api/auth/error?error=%0d%0a", 400],
    ["/api/auth/error?error=%E2%82%AC", 400],
    ["/api/auth/error?error=invalid_signature", 302],
    ["/api/auth/session?callbackUrl=nonsense", 400],
    ["/api/auth/nothing/is/here", 400],
    ["/api/auth/session", 200],
    ["/api/auth/session/", 308],
    ["/api/auth/signout", 400, { method: "POST", headers: JSON_TYPE, body: "{nope" }],
    [
      "/api/auth/callback/credentials",
      413,
      { method: "POST", headers: JSON_TYPE, body: "x".repeat(17_000) },
    ],
    ["/activity?x=%ff", 400],
    ["/activity?x=%E2%82%AC", 307],
    ["/no/such/page", 404],
    ["/_next/static/nothing.js", 404],
    ["/_next/image?url=%2F%2Fevil.example%2Fx&w=64&q=75", 400],
  ];
  for (const [target, status, options] of odd) {
    const answer = await raw(target, options);
    expect([target, statusOf(answer), answer.split("HTTP/1.1 ").length - 1]).toEqual([
      target,
      status,
      1,
    ]);
  }
});

test("what a request says of its host leads nobody to another site", async () => {
  const answer = await raw("/activity", {
    headers:
      "x-forwarded-host: evil.example\r\nx-forwarded-proto: https\r\nforwarded: host=evil.example\r\n",
  });
  expect(answer).not.toContain("evil.example");
});

test("sign-in leads a person who is signed in back into the app, wherever the link wanted to", async ({
  request,
}) => {
  await signIn(request);
  const target = async (from: string): Promise<readonly unknown[]> => {
    const answer = await request.get(`/sign-in?from=${encodeURIComponent(from)}`, {
      maxRedirects: 0,
    });
    return [from, answer.status(), answer.headers().location];
  };
  for (const from of [
    "/.//evil.example/x",
    "//",
    "//evil.example",
    "/\\evil.example",
    "/a/..//evil.example",
  ])
    expect(await target(from)).toEqual([from, 307, "/"]);
  expect(await target("/activity?tab=raw")).toEqual([
    "/activity?tab=raw",
    307,
    "/activity?tab=raw",
  ]);
});

/** Ids of this stack's page processes: all `pages.js` below the supervisor. */
const pagesPids = (): number[] => {
  const lines = execFileSync("ps", ["-Ao", "pid=,ppid=,command="], { encoding: "utf8" })
    .trim()
    .split("\n");
  const processes = new Map(
    lines.map((line) => {
      const [pid = "", ppid = "", ...command] = line.trim().split(/\s+/);
      return [Number(pid), { ppid: Number(ppid), command: command.join(" ") }];
    }),
  );
  const root = Number(process.env.E2E_STACK_PID);
  if (!root)
    throw new Error("E2E_STACK_PID is not set: the global setup starts the stack and sets it.");
  const isBelow = (pid: number): boolean => {
    for (
      let at = processes.get(pid)?.ppid;
      at !== undefined && at > 1;
      at = processes.get(at)?.ppid
    )
      if (at === root) return true;
    return false;
  };
  return [...processes].flatMap(([pid, { command }]) =>
    command.includes("pages.js") && isBelow(pid) ? [pid] : [],
  );
};

test("pages that are killed come back by themselves, and no API request fails meanwhile", async ({
  request,
}) => {
  const state = { isLoading: true, answered: 0, failures: [] as unknown[] };
  const load = async (): Promise<void> => {
    while (state.isLoading) {
      const status = await fetch(new URL("/api/chains", ORIGIN)).then(
        async (answer) => (await answer.text(), answer.status),
        (error: unknown) => error,
      );
      if (status === 200) state.answered += 1;
      else state.failures.push(status);
    }
  };
  const loading = Promise.all([load(), load()]);
  for (let round = 0; round < 3; round += 1) {
    const [pid] = pagesPids();
    expect(pid).toBeDefined();
    process.kill(pid ?? 0, "SIGKILL");
    await expect
      .poll(() => pagesPids().filter((other) => other !== pid).length, { timeout: 60_000 })
      .toBe(1);
    await expect
      .poll(async () => (await request.get("/sign-in")).status(), { timeout: 60_000 })
      .toBe(200);
  }
  state.isLoading = false;
  await loading;
  expect(state.failures).toEqual([]);
  expect(state.answered).toBeGreaterThan(0);
});

test("while the pages are away a browser gets a page that loads again by itself", async ({
  request,
}) => {
  for (const pid of pagesPids()) process.kill(pid, "SIGKILL");
  const ask = () => request.get("/sign-in", { headers: { accept: "text/html" } });
  // Stores the body of the 503 answer at once, because the pages may run again at the next request.
  let away = "";
  await expect
    .poll(
      async () => {
        const answer = await ask();
        if (answer.status() === 503) away = await answer.text();
        return answer.status();
      },
      { intervals: [10] },
    )
    .toBe(503);
  expect(away).toContain('http-equiv="refresh"');
  await expect.poll(async () => (await ask()).status(), { timeout: 60_000 }).toBe(200);
});
