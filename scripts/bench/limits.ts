/**
 * `npm run bench limits`: measures an authenticated GET with the rate limits that all instances
 * share, and without limits, for one caller and for 32 callers at once. Both servers use one
 * PostgreSQL and take turns. A benchmark, not a test.
 */
import autocannon from "autocannon";
import { approvedKey } from "../../lib/dev/testing/approve";
import {
  environmentOn,
  median,
  signInAnew,
  startDatabase,
  startServer,
  stopServer,
} from "./harness";

const PATH = "/api/auth/whoami";
const CHAIN = 31337;
const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = [1, 32];
/**
 * Limit of the server that has rate limits. It is so high that no request is refused, but every
 * request is counted.
 */
const LIMIT = "100000000";

/**
 * Returns the median latency in milliseconds. It is computed from single requests, because
 * autocannon's own p50 has only whole milliseconds.
 */
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

export const run = async (): Promise<void> => {
  const database = await startDatabase();
  const shared = environmentOn(await database.create("bench"));
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
    const [without, exact] = [
      median(rounds.map((one) => one.without)),
      median(rounds.map((one) => one.exact)),
    ];
    const ratio = median(rounds.map((one) => one.exact / one.without));
    console.log(
      JSON.stringify({ connections, withoutP50Ms: without, exactP50Ms: exact, ratio, rounds }),
    );
  }
  await Promise.all(Object.values(servers).map(stopServer));
  await database.stop();
};
