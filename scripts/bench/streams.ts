/**
 * Measures the cost of idle event streams: the server's CPU share with 1,000 streams, and the
 * latency of a cheap route with 0 and with 400 streams.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request, type ClientRequest } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const IDLE_STREAMS = 1000;
const STREAMS_BESIDE = 400;
/** Number of streams that are opened with one API key. The server allows at most 50. */
const STREAMS_PER_KEY = 50;
export const STREAM_KEYS = IDLE_STREAMS / STREAMS_PER_KEY;
const SETTLE_MS = 5_000;
const IDLE_MS = 20_000;
const READS = 300;
const CLOCK_TICKS_PER_SECOND = 100;

export interface StreamFigures {
  readonly streams: number;
  /**
   * CPU time of the server's process divided by wall time while the streams are open and idle. 1 is
   * one full core.
   */
  readonly cpuShare: number;
  /** The value of `cpuShare` before any stream was opened. */
  readonly cpuShareBefore: number;
  readonly p50Ms: { readonly alone: number; readonly beside: number };
  /** Median latency of the route with 400 open streams, divided by the median without streams. */
  readonly ratio: number;
}

export interface StreamBench {
  /** Origin of the server, which must run with RATE_LIMIT_PER_KEY=0 and RATE_LIMIT_PER_IP=0. */
  readonly serverUrl: string;
  /** Id of the server's process. */
  readonly pid: number;
  /** Id of an operation that stays pending, so that its streams are idle. */
  readonly operationId: string;
  /** API keys of the operation's project: 20, one for each 50 streams. */
  readonly apiKeys: readonly string[];
}

const cpuSeconds = (pid: number): number => {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
};

const shareOf = async (pid: number): Promise<number> => {
  const [cpu, wall] = [cpuSeconds(pid), performance.now()];
  await pause(IDLE_MS);
  return (cpuSeconds(pid) - cpu) / ((performance.now() - wall) / 1000);
};

const open = async (
  { serverUrl, operationId, apiKeys }: StreamBench,
  index: number,
): Promise<ClientRequest> => {
  const caller = Math.floor(index / STREAMS_PER_KEY);
  const headers = { "x-api-key": apiKeys[caller] ?? "" };
  // The server limits the connections of one address, so each API key uses its own loopback
  // address.
  const localAddress = `127.0.0.${String(caller + 2)}`;
  const path = `/api/operations/${operationId}/events`;
  const stream = request(`${serverUrl}${path}`, { headers, localAddress, agent: false });
  stream.on("error", () => undefined);
  stream.end();
  const [response] = (await once(stream, "response")) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  if (response.statusCode !== 200)
    throw new Error(`A stream was answered with ${String(response.statusCode)}.`);
  response.on("error", () => undefined).resume();
  return stream;
};

const openMany = async (
  bench: StreamBench,
  from: number,
  to: number,
): Promise<ClientRequest[]> => {
  const streams: ClientRequest[] = [];
  for (let index = from; index < to; index += 1) streams.push(await open(bench, index));
  return streams;
};

const p50Of = async ({ serverUrl, apiKeys }: StreamBench): Promise<number> => {
  const times: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const started = performance.now();
    const answer = await fetch(`${serverUrl}/api/auth/whoami`, {
      headers: { "x-api-key": apiKeys[0] ?? "" },
    });
    await answer.arrayBuffer();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[READS >> 1] ?? 0;
};

const round = (value: number): number => Math.round(value * 10_000) / 10_000;

export const benchStreams = async (bench: StreamBench): Promise<StreamFigures> => {
  await p50Of(bench);
  const cpuShareBefore = await shareOf(bench.pid);
  const alone = await p50Of(bench);
  const streams = await openMany(bench, 0, STREAMS_BESIDE);
  try {
    await pause(SETTLE_MS);
    const beside = await p50Of(bench);
    streams.push(...(await openMany(bench, STREAMS_BESIDE, IDLE_STREAMS)));
    await pause(SETTLE_MS);
    const cpuShare = await shareOf(bench.pid);
    return {
      streams: IDLE_STREAMS,
      cpuShare: round(cpuShare),
      cpuShareBefore: round(cpuShareBefore),
      p50Ms: { alone: round(alone), beside: round(beside) },
      ratio: round(beside / alone),
    };
  } finally {
    for (const stream of streams) stream.destroy();
  }
};
