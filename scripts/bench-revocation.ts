/**
 * `npx tsx scripts/bench-revocation.ts`: how long an API key that one instance revokes still works on another one, for requests and for an
 * open stream; exit code 1 when that is ever longer than a second. Two instances on one PostgreSQL; the key is in steady use on the other one, so it is answered from memory there. A
 * benchmark, not a test.
 */
import { createApiKey, revokeApiKey } from "../lib/contracts/api-keys";
import { environmentOn, median, startDatabase, startServer, stopServer } from "./bench-servers";
import { signInAnew } from "./bench-sign-in";

const ROUNDS = 40;
const CHAIN = 31337;
const ASK_EVERY_MS = 5;
/** The service promises that a revoked key is refused everywhere within this time. */
const GOAL_MS = 1000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns `performance.now()` of the first answer that refuses the key */
const refusedAt = async (url: string, apiKey: string): Promise<number> => {
  for (;;) {
    const { status } = await fetch(`${url}/api/auth/whoami`, { headers: { "x-api-key": apiKey } });
    if (status === 401) return performance.now();
    if (status !== 200) throw new Error(`The answer was ${String(status)}.`);
    await pause(ASK_EVERY_MS);
  }
};

/** Opens the stream of changes. @returns, once its first event has come, a promise of the `performance.now()` at which it ends */
const openStream = async (url: string, apiKey: string): Promise<{ readonly endedAt: Promise<number> }> => {
  const answer = await fetch(`${url}/api/stream`, { headers: { "x-api-key": apiKey } });
  const reader = answer.body?.getReader();
  if (answer.status !== 200 || reader === undefined) throw new Error(`The stream answered ${String(answer.status)}.`);
  await reader.read();
  const endedAt = (async () => {
    while (!(await reader.read()).done);
    return performance.now();
  })();
  return { endedAt };
};

const main = async (): Promise<void> => {
  const database = await startDatabase();
  const environment = environmentOn(await database.create("bench"));
  const [here, there] = [await startServer(environment), await startServer(environment)];
  const { client } = await signInAnew(here.url, CHAIN);
  const requests: number[] = [];
  const streams: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id, secret } = await client.call(createApiKey, { body: { name: "bench", scopes: ["operations:read"] } });
    const stream = await openStream(there.url, secret);
    const refused = refusedAt(there.url, secret);
    // At another moment of the second in which the other instance answers from memory.
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
  console.log(JSON.stringify({ rounds: ROUNDS, requests: figures(requests), streams: figures(streams) }));
  if (Math.max(...requests, ...streams) > GOAL_MS) process.exitCode = 1;
  await Promise.all([stopServer(here), stopServer(there)]);
  await database.stop();
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
