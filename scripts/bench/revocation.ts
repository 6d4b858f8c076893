/**
 * `npm run bench revocation`: measures how long an API key still works on one instance after
 * another instance has revoked it, for requests and for an open event stream. Both instances use
 * one PostgreSQL. The key is in steady use, so the instance checks it from memory. Exits with 1
 * when the key ever works longer than a second. A benchmark, not a test.
 */
import { createApiKey, revokeApiKey } from "../../lib/contracts/api-keys";
import {
  environmentOn,
  median,
  signInAnew,
  startDatabase,
  startServer,
  stopServer,
} from "./harness";

const ROUNDS = 40;
const CHAIN = 31337;
const ASK_EVERY_MS = 5;
/** The service promises that all instances refuse a revoked key within this time. */
const GOAL_MS = 1000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sends requests until the server refuses the API key.
 * @returns the `performance.now()` of the first refused request
 */
const refusedAt = async (url: string, apiKey: string): Promise<number> => {
  for (;;) {
    const { status } = await fetch(`${url}/api/auth/whoami`, {
      headers: { "x-api-key": apiKey },
    });
    if (status === 401) return performance.now();
    if (status !== 200) throw new Error(`The answer was ${String(status)}.`);
    await pause(ASK_EVERY_MS);
  }
};

/**
 * Opens the stream of changes, and waits for its first event.
 * @returns `endedAt`: a promise of the `performance.now()` at which the stream ends
 */
const openStream = async (
  url: string,
  apiKey: string,
): Promise<{ readonly endedAt: Promise<number> }> => {
  const answer = await fetch(`${url}/api/stream`, { headers: { "x-api-key": apiKey } });
  const reader = answer.body?.getReader();
  if (answer.status !== 200 || reader === undefined)
    throw new Error(`The stream answered ${String(answer.status)}.`);
  await reader.read();
  const endedAt = (async () => {
    while (!(await reader.read()).done);
    return performance.now();
  })();
  return { endedAt };
};

export const run = async (): Promise<void> => {
  const database = await startDatabase();
  const environment = environmentOn(await database.create("bench"));
  const [here, there] = [await startServer(environment), await startServer(environment)];
  const { client } = await signInAnew(here.url, CHAIN);
  const requests: number[] = [];
  const streams: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, secret } = await client.call(createApiKey, {
      body: { name: "bench", scopes: ["operations:read"] },
    });
    const stream = await openStream(there.url, secret);
    const refused = refusedAt(there.url, secret);
    // Each round revokes at a different moment of the second during which an instance answers from
    // memory.
    await pause((1000 * round) / ROUNDS);
    await client.call(revokeApiKey, { params: { id } });
    const revokedAt = performance.now();
    requests.push((await refused) - revokedAt);
    streams.push((await stream.endedAt) - revokedAt);
  }
  const figures = (values: readonly number[]) => ({
    p50Ms: Math.round(median(values)),
    maxMs: Math.round(Math.max(...values)),
  });
  console.log(
    JSON.stringify({ rounds: ROUNDS, requests: figures(requests), streams: figures(streams) }),
  );
  if (Math.max(...requests, ...streams) > GOAL_MS) process.exitCode = 1;
  await Promise.all([stopServer(here), stopServer(there)]);
  await database.stop();
};
