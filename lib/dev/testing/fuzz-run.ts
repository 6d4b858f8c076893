/**
 * Sends requests of the OpenAPI document to the service, round by round, and collects the faults of
 * the answers.
 */
import fc from "fast-check";
import type { Json } from "@/lib/http/openapi-schemas";
import type { FuzzCallers } from "./fuzz-callers";
import { createValuePool } from "./fuzz-pool";
import { operationsOf, requestArbitraries, type FuzzRequest } from "./fuzz-requests";
import { createSender, faultOf, toSent, type Sent } from "./fuzz-send";
import { randomOf } from "./random";

export interface FuzzOptions {
  readonly document: Json;
  /** Origin without a path. */
  readonly origin: string;
  readonly callers: FuzzCallers;
  readonly seed: number;
  /** Number of rounds; each has one request to every operation, in a different order. */
  readonly rounds: number;
}

export interface FuzzReport {
  readonly requests: number;
  readonly operations: number;
  /** Operations that succeeded at least once. */
  readonly succeeded: ReadonlySet<string>;
  /** Number of answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** One text for each operation and kind of fault, with the first request that shows it. */
  readonly faults: readonly string[];
}

const CONNECTIONS = 6;
const SHOWN_LENGTH_MAX = 1_500;

const shuffled = <T>(items: readonly T[], random: () => number): T[] => {
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  return order;
};

const shown = ({ method, path, headers, body }: Sent): string => {
  const text = Buffer.from(body).toString().slice(0, SHOWN_LENGTH_MAX);
  const lines = headers.filter(([name]) => name !== "authorization" && name !== "x-api-key");
  return `${method} ${path} ${JSON.stringify(lines).slice(0, SHOWN_LENGTH_MAX)} ${text}`;
};

const inParallel = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const queue = items.values();
  const run = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, run));
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
};

/**
 * Sends all rounds of requests, and returns the report. The same seed creates the same requests,
 * but the ids in them depend on earlier answers.
 */
export const runFuzz = async ({
  document,
  origin,
  callers,
  seed,
  rounds,
}: FuzzOptions): Promise<FuzzReport> => {
  const pool = createValuePool();
  const sender = createSender(origin, CONNECTIONS);
  const random = randomOf(seed);
  const operations = operationsOf(document);
  const arbitraryOf = requestArbitraries(document);
  // Each operation has a seed of its own. With one seed, the first choice of every operation would
  // be the same, and all requests of a round could be hostile.
  const planned = operations.map((one, index) =>
    fc.sample(arbitraryOf(one), { seed: seed + index, numRuns: rounds }),
  );
  const succeeded = new Set<string>();
  const statuses = new Map<number, number>();
  const faults = new Map<string, string>();
  let requests = 0;

  const note = (operationId: string, fault: string, sent: Sent, answer: string): void => {
    const name = `${operationId} ${fault}`;
    if (!faults.has(name))
      faults.set(name, `${name}\n  ${shown(sent)}\n  ${answer.slice(0, SHOWN_LENGTH_MAX)}`);
  };

  const one = async (
    request: FuzzRequest,
    credentials: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const sent = toSent(request, pool, credentials);
    requests += 1;
    const answer = await sender.send(sent).catch((error: unknown) => {
      note(request.operationId, "did not answer", sent, String(error));
      return null;
    });
    if (answer === null) return;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const fault = faultOf(document, sent, answer);
    if (fault !== null) note(request.operationId, fault, sent, answer.text);
    if (answer.status < 300) succeeded.add(request.operationId);
    pool.keep(jsonOf(answer.text));
  };

  for (let round = 0; round < rounds; round += 1) {
    const all = callers.all();
    const batch = shuffled(planned, random).flatMap((requestsOf) =>
      requestsOf.slice(round, round + 1),
    );
    await inParallel(batch, (request) =>
      one(request, all[Math.floor(random() * all.length)] ?? {}),
    );
    await callers.restore();
  }
  sender.close();
  return {
    requests,
    operations: operations.length,
    succeeded,
    statuses,
    faults: [...faults.values()],
  };
};
