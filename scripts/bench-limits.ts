/**
 * `npx tsx scripts/bench-limits.ts`: an authenticated GET with the exact limits of all instances and without limits, one caller and 32 at
 * once, in turns on one PostgreSQL. A benchmark, not a test.
 */
import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { migrateDeploy } from "../lib/db/migrate";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";
import { approvedKey } from "../lib/testing/approve";
import { makeWorkspace } from "../lib/testing/workspace";
import { signInAnew } from "./bench-sign-in";

const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations", import.meta.url));
const SERVER = fileURLToPath(new URL("../lib/testing/api-server.ts", import.meta.url));
const PATH = "/api/auth/whoami";
const CHAIN = 31337;
const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = [1, 32];
/** High enough that no request is refused, so every request gets its number. */
const LIMIT = "100000000";

const startServer = async (environment: NodeJS.ProcessEnv): Promise<{ url: string; child: ChildProcess }> => {
  const child = fork(SERVER, [], {
    env: environment,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { url: `http://127.0.0.1:${String(port)}`, child };
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Milliseconds, from the latencies of single requests: autocannon's own p50 has whole milliseconds. */
const p50Of = (url: string, apiKey: string, connections: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const latencies: number[] = [];
    const options = { url, connections, duration: SECONDS, headers: { "x-api-key": apiKey } };
    const running = autocannon(options, (error: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(median(latencies));
    });
    running.on("response", (_client, statusCode, _bytes, responseTime) => {
      if (statusCode !== 200) reject(new Error(`The answer was ${String(statusCode)}.`));
      latencies.push(responseTime);
    });
  });

const main = async (): Promise<void> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({ dataDir: `${workspace.folder}/postgres` });
  await postgres.ensureDatabase("bench");
  await migrateDeploy(postgres.url("bench"), MIGRATIONS);
  const secret = (): string => `dev_${randomBytes(32).toString("hex")}`;
  const shared = {
    ...process.env,
    ...{ DATABASE_URL: postgres.url("bench"), LOG_LEVEL: "error", NODE_ENV: "production" as const, DEVNET: "0" },
    ...{ APP_SECRET: secret(), KEY_ENCRYPTION_KEY: secret(), EXECUTOR_PRIVATE_KEY: secret().replace("_", "_0x") },
  };
  const limits = (value: string) => ({
    RATE_LIMIT_PER_KEY: value,
    RATE_LIMIT_PER_IP: value,
    RATE_LIMIT_SIGN_IN_PER_IP: value,
  });
  const servers = {
    without: await startServer({ ...shared, ...limits("0") }),
    exact: await startServer({ ...shared, ...limits(LIMIT) }),
  };
  const { account, client } = await signInAnew(servers.without.url, CHAIN);
  const { secret: apiKey } = await approvedKey(account, client, { name: "bench" });
  const urls = { without: servers.without.url + PATH, exact: servers.exact.url + PATH };
  for (const connections of CONNECTIONS) {
    await p50Of(urls.without, apiKey, connections);
    await p50Of(urls.exact, apiKey, connections);
    const rounds: { without: number; exact: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      rounds.push({
        without: await p50Of(urls.without, apiKey, connections),
        exact: await p50Of(urls.exact, apiKey, connections),
      });
    const [without, exact] = [median(rounds.map((one) => one.without)), median(rounds.map((one) => one.exact))];
    const ratio = median(rounds.map((one) => one.exact / one.without));
    console.log(JSON.stringify({ connections, withoutP50Ms: without, exactP50Ms: exact, ratio, rounds }));
  }
  for (const { child } of Object.values(servers)) {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  }
  await postgres.stop();
  workspace.remove();
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
