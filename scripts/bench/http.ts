import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import autocannon from "autocannon";

/** The measured route: it checks an API key, and does almost nothing else. */
const PATH = "/api/auth/whoami";
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
const MEASURE_SECONDS = 5;
const GOAL_TIMES_NEXT = 8;
const GOAL_OF_BARE = 0.3;

// Source of a server that sends a constant answer of the same form as the measured route. It shows
// the highest rate that node:http reaches on this machine.
const BARE = `
  const body = JSON.stringify({ type: "apiKey", id: "key_0", projectId: "prj_0", role: null, scopes: [] });
  const headers = { "content-type": "application/json; charset=utf-8", "content-length": body.length };
  require("node:http").createServer((_, response) => { response.writeHead(200, headers); response.end(body); })
    .listen(0, "127.0.0.1", function () { process.send(this.address().port); });
`;

export interface HttpFigures {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface HttpBenchmark {
  readonly path: string;
  readonly connections: number;
  readonly server: HttpFigures;
  readonly next: HttpFigures | null;
  readonly bare: HttpFigures;
  /** Rate of server.ts divided by the rate of plain Next; the goal is 8. */
  readonly timesNext: number | null;
  /** Rate of server.ts divided by the rate of a bare node:http server; the goal is 0.3. */
  readonly ofBare: number;
  readonly goals: {
    readonly timesNext: number;
    readonly ofBare: number;
    readonly met: boolean;
  };
}

interface HttpBenchOptions {
  /**
   * Origin of server.ts. server.ts and `next start` must run with RATE_LIMIT_PER_KEY=0 and
   * RATE_LIMIT_PER_IP=0.
   */
  readonly serverUrl: string;
  /** Origin of `next start`; with null it is not measured. */
  readonly nextUrl: string | null;
  readonly apiKey: string;
}

const fire = (url: string, apiKey: string, seconds: number): Promise<autocannon.Result> =>
  autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { "x-api-key": apiKey },
  });

/**
 * Measures the requests per second of a route that answers 2xx.
 * @throws Error when the route answers anything else
 */
export const measure = async (url: string, apiKey: string): Promise<HttpFigures> => {
  await fire(url, apiKey, WARM_UP_SECONDS);
  const result = await fire(url, apiKey, MEASURE_SECONDS);
  const bad = result.non2xx + result.errors;
  if (bad > 0)
    throw new Error(
      `${url}: ${String(bad)} of ${String(result.requests.total)} answers were not 2xx.`,
    );
  return {
    requestsPerSecond: Math.round(result.requests.average),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
};

const startBare = async (): Promise<{ url: string; child: ChildProcess }> => {
  const child = spawn(process.execPath, ["-e", BARE], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = (await once(child, "message")) as [number];
  return { url: `http://127.0.0.1:${String(port)}/`, child };
};

/**
 * Measures the requests per second of a bare node:http server. Its rate depends on the present load
 * of the machine, so callers measure it directly before or after the other servers.
 */
export const measureBare = async (): Promise<HttpFigures> => {
  const { url, child } = await startBare();
  try {
    return await measure(url, "");
  } finally {
    child.kill();
  }
};

const ratio = (a: number, b: number): number => Math.round((a / b) * 100) / 100;

/**
 * Measures server.ts, `next start` and a bare node:http server one after another on the same
 * machine, with 32 connections each.
 */
export const benchHttp = async ({
  serverUrl,
  nextUrl,
  apiKey,
}: HttpBenchOptions): Promise<HttpBenchmark> => {
  const { url, child } = await startBare();
  try {
    const bare = await measure(url, apiKey);
    const server = await measure(serverUrl + PATH, apiKey);
    const next = nextUrl === null ? null : await measure(nextUrl + PATH, apiKey);
    const timesNext =
      next === null ? null : ratio(server.requestsPerSecond, next.requestsPerSecond);
    const ofBare = ratio(server.requestsPerSecond, bare.requestsPerSecond);
    const met = (timesNext === null || timesNext >= GOAL_TIMES_NEXT) && ofBare >= GOAL_OF_BARE;
    const goals = { timesNext: GOAL_TIMES_NEXT, ofBare: GOAL_OF_BARE, met };
    return {
      path: PATH,
      connections: CONNECTIONS,
      server,
      next,
      bare,
      timesNext,
      ofBare,
      goals,
    };
  } finally {
    child.kill();
  }
};
