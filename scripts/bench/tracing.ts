/**
 * `npm run bench tracing`: compares the requests per second of two servers: one with tracing
 * switched off, and one that was built without the tracing code. Starts its own stack. A
 * benchmark, not a test.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { environmentOf, startStack, type Stack } from "../../e2e/support/stack";
import { createApiKey } from "../../lib/contracts/api-keys";
import { freePort } from "../../lib/platform/os/ports";
import { measure } from "./http";
import { signInAnew } from "./harness";

const CHAIN_ID = 31337;
/**
 * Number of measurements of each server. The servers take turns, so that other load on the machine
 * affects both.
 */
const ROUNDS = 4;
const START_TIMEOUT_MS = 60_000;
const PATH = "/api/auth/whoami";
// The bundles lie beside the server's own bundle, because Node finds the packages from there.
const OUT = {
  on: resolve("dist/bench-server.js"),
  off: resolve("dist/bench-server-untraced.js"),
};

/**
 * Bundles the server. With `traced` false, `isTracing()` becomes the constant `false`, and the
 * bundler removes the code that depends on it.
 */
const bundle = async (outfile: string, traced: boolean): Promise<void> => {
  await build({
    entryPoints: ["server.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    minifySyntax: true,
    logLevel: "warning",
    plugins: [
      {
        name: "untraced",
        setup: ({ onLoad }) => {
          onLoad({ filter: /\/lib\/(http|platform\/db)\/[a-z-]+\.ts$/ }, ({ path }) => {
            const text = readFileSync(path, "utf8");
            return {
              loader: "ts",
              contents: traced ? text : text.replaceAll("isTracing()", "false"),
            };
          });
        },
      },
    ],
  });
};

const startServer = async (
  stack: Stack,
  file: string,
): Promise<{ url: string; child: ChildProcess }> => {
  const port = await freePort();
  const child = spawn(process.execPath, [file], {
    env: { ...environmentOf(stack), PORT: String(port), ROLE: "web" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${String(port)}`;
  const started = performance.now();
  while (performance.now() - started < START_TIMEOUT_MS) {
    const isUp = await fetch(`${url}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return { url, child };
    await pause(100);
  }
  child.kill();
  throw new Error(`${file} did not start.`);
};

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

const compare = async (stack: Stack): Promise<object> => {
  const { client } = await signInAnew(stack.url, CHAIN_ID);
  const { secret } = await client.call(createApiKey, { body: { name: "bench" } });
  const servers: ChildProcess[] = [];
  const start = async (file: string): Promise<string> => {
    const { url, child } = await startServer(stack, file);
    servers.push(child);
    return url + PATH;
  };
  try {
    const [off, none] = [await start(OUT.on), await start(OUT.off)];
    const rounds: { readonly off: number; readonly none: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = round % 2 === 0 ? off : none;
      const a = await measure(first, secret);
      const b = await measure(first === off ? none : off, secret);
      const [mine, other] = first === off ? [a, b] : [b, a];
      rounds.push({ off: mine.requestsPerSecond, none: other.requestsPerSecond });
    }
    const ratio =
      sum(rounds.map(({ off: each }) => each)) / sum(rounds.map(({ none: each }) => each));
    return { path: PATH, rounds, ratio: Math.round(ratio * 1000) / 1000 };
  } finally {
    for (const child of servers) child.kill();
  }
};

export const run = async (): Promise<void> => {
  await Promise.all([bundle(OUT.on, true), bundle(OUT.off, false)]);
  try {
    const stack = await startStack();
    try {
      process.stdout.write(`${JSON.stringify(await compare(stack), null, 2)}\n`);
    } finally {
      await stack.stop();
    }
  } finally {
    for (const file of Object.values(OUT)) rmSync(file, { force: true });
  }
};
