import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { PrivateKeyAccount } from "viem/accounts";
import { createApiClient, type ApiClient } from "../../lib/api-client/client";
import { useFaucet } from "../../lib/contracts/dev";
import { swapAndTransfer } from "../../lib/contracts/transfers";
import { listWallets } from "../../lib/contracts/wallets";
import { approvedKey } from "../../lib/dev/testing/approve";
import { childrenOf, quantile, signInAnew } from "./harness";
import { startStack } from "../../e2e/support/stack";
import { measureBare } from "./http";

const CHAIN_ID = 31337;
const ONE_BY_ONE = 10;
const WARM = 5;
/**
 * Number of transfers in one measurement. The last transfers become final up to a second after
 * their block. With so many transfers, that second hardly changes the rate.
 */
const TRANSFERS = 1200;
const CONCURRENCY = 50;
const POLL_MS = 50;
const TIMEOUT_MS = 120_000;
const CLOCK_TICKS_PER_SECOND = 100;

/** Duration of each phase of one transfer, in milliseconds. */
interface Phases {
  /** The request that prices, simulates and accepts the transfer. */
  readonly accept: number;
  /** From acceptance until the user operation is signed and stored. */
  readonly sign: number;
  /** Until a node has received the bundle with the user operation. */
  readonly submit: number;
  /** Until the service saw the transaction on chain. */
  readonly mined: number;
  /** Until the transaction has as many confirmations as the chain requires. */
  readonly confirmed: number;
}

export interface TransferFigures {
  readonly transfers: number;
  readonly perSecond: number;
  readonly oneByOnePerSecond: number;
  /** Rate of concurrent transfers, divided by the rate of transfers one after another. */
  readonly ratio: number;
  readonly operationsPerBundle: number;
  readonly p50Ms: Phases;
  readonly p95Ms: Phases;
  /**
   * CPU milliseconds per transfer, by kind of process. The CPU limits the rate when all cores are
   * in use.
   */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Share of the machine's cores that was in use, from 0 to 1. */
  readonly cpuShare: number;
}

export interface TransferBench {
  readonly databaseUrl: string;
  /** Returns the process ids of the stack. */
  readonly pids: () => readonly number[];
  /** API client of a person with a funded treasury. */
  readonly client: ApiClient;
  /** The wallet account of that person. */
  readonly account: PrivateKeyAccount;
  readonly apiUrl: string;
  readonly chainId: number;
}

type Transfer = (recipient: `0x${string}`) => Promise<string>;

let recipients = 0n;
export const newRecipient = (): `0x${string}` =>
  `0x${(BigInt(Date.now()) * 0x1_0000_0000n + (recipients += 1n)).toString(16).padStart(40, "0")}`;

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** Returns the CPU seconds that each kind of process has used so far. */
const cpuOf = (pids: readonly number[]): Map<string, number> => {
  const seconds = new Map<string, number>();
  for (const pid of [process.pid, ...pids]) {
    try {
      const line = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
      const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
      const name =
        pid === process.pid
          ? "benchmark"
          : line.slice(line.indexOf("(") + 1, line.lastIndexOf(")"));
      const ticks = Number(fields[11]) + Number(fields[12]);
      seconds.set(name, (seconds.get(name) ?? 0) + ticks / CLOCK_TICKS_PER_SECOND);
    } catch {
      // The process ended before its figures could be read.
    }
  }
  return seconds;
};

const waitUntilCompleted = async (pool: pg.Pool, ids: readonly string[]): Promise<void> => {
  const started = performance.now();
  while (performance.now() - started < TIMEOUT_MS) {
    const { rows } = await pool.query<{ status: string; count: number }>(
      "SELECT status, count(*)::int AS count FROM operation WHERE id = ANY($1) GROUP BY status",
      [ids],
    );
    const bad = rows.find(({ status }) =>
      ["failed", "refunded", "cancelled", "expired"].includes(status),
    );
    if (bad)
      throw new Error(
        `${String(bad.count)} of ${String(ids.length)} transfers ended ${bad.status}.`,
      );
    if (rows.find(({ status }) => status === "completed")?.count === ids.length) return;
    await pause(POLL_MS);
  }
  throw new Error("The transfers were not completed in time.");
};

/** Starts `count` transfers with a limited number of concurrent requests. */
const begin = async (count: number, transfer: Transfer): Promise<Map<string, number>> => {
  const acceptedMs = new Map<string, number>();
  let begun = 0;
  const one = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const started = performance.now();
      const id = await transfer(newRecipient());
      acceptedMs.set(id, performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, one));
  return acceptedMs;
};

interface Times {
  readonly id: string;
  readonly created: Date;
  readonly signed: Date;
  readonly sent: Date;
  readonly seen: Date;
  readonly completed: Date;
  readonly bundle: string;
}

const timesOf = async (pool: pg.Pool, ids: readonly string[]): Promise<Times[]> => {
  const { rows } = await pool.query<Times>(
    `SELECT o.id, o.created_at AS created, t.id AS bundle, coalesce(t.broadcast_at, t.created_at) AS sent,
       max(e.created_at) FILTER (WHERE e.type = 'leg.submitted') AS signed,
       max(e.created_at) FILTER (WHERE e.type = 'leg.source_seen') AS seen,
       max(e.created_at) FILTER (WHERE e.type = 'leg.completed') AS completed
     FROM operation o JOIN operation_event e ON e.operation_id = o.id JOIN operation_leg l ON l.operation_id = o.id
     JOIN bundle_operation b ON b.user_op_hash = l.user_op_hash JOIN chain_transaction t ON t.id = b.transaction_id
     WHERE o.id = ANY($1) GROUP BY o.id, t.id`,
    [ids],
  );
  return rows;
};

const phasesOf = (
  times: readonly Times[],
  acceptedMs: ReadonlyMap<string, number>,
  share: number,
): Phases => {
  const between = (from: keyof Times, to: keyof Times): number =>
    quantile(
      times.map((each) => Number(each[to]) - Number(each[from])),
      share,
    );
  return {
    accept: quantile([...acceptedMs.values()], share),
    sign: between("created", "signed"),
    submit: between("signed", "sent"),
    mined: between("sent", "seen"),
    confirmed: between("seen", "completed"),
  };
};

/** A payer of transfers: an API key that needs no one-time code, and a funded treasury. */
export interface Payer {
  readonly secret: string;
  readonly treasuryId: string;
  readonly chainId: number;
}

export const payerOf = async ({
  account,
  client,
  chainId,
}: Pick<TransferBench, "account" | "client" | "chainId">): Promise<Payer> => {
  const { data } = await client.call(listWallets, {});
  const treasury = data.find(({ kind }) => kind === "treasury");
  if (treasury === undefined) throw new Error("There is no treasury.");
  await client.call(useFaucet, {
    body: { address: treasury.address, chainId, token: "USDC", amount: "100000" },
  });
  const { secret } = await approvedKey(account, client, {
    name: "transfers",
    otp: "exempt",
    dailyCapUsd: "1000000",
  });
  return { secret, treasuryId: treasury.id, chainId };
};

export const keyClient = ({ secret }: Payer, apiUrl: string): ApiClient =>
  createApiClient({ baseUrl: apiUrl, headers: () => ({ "x-api-key": secret }) });

/** Makes a function that starts a transfer: one API call prices, simulates and accepts it. */
export const transferBy = (payer: Payer, apiUrl: string): Transfer => {
  const key = keyClient(payer, apiUrl);
  const { treasuryId: fromWalletId, chainId } = payer;
  const from = { fromWalletId, fromChainId: chainId, toChainId: chainId };
  return async (recipient) => {
    const body = { ...from, fromToken: "USDC", toToken: "USDC", amount: "1", recipient };
    const { operationId, subStatus } = await key.call(swapAndTransfer, { body });
    if (subStatus === "awaiting_approval") throw new Error("A transfer waits for approval.");
    return operationId;
  };
};

/**
 * Measures transfers from one treasury on one chain, from acceptance to completion: first one after
 * another, then many at a time.
 */
export const benchTransfers = async (bench: TransferBench): Promise<TransferFigures> => {
  const { databaseUrl, pids } = bench;
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  try {
    const transfer = transferBy(await payerOf(bench), bench.apiUrl);
    for (let warm = 0; warm < WARM; warm++)
      await waitUntilCompleted(pool, [await transfer(newRecipient())]);
    const startedSingly = performance.now();
    for (let one = 0; one < ONE_BY_ONE; one++)
      await waitUntilCompleted(pool, [await transfer(newRecipient())]);
    const oneByOnePerSecond = ONE_BY_ONE / ((performance.now() - startedSingly) / 1000);

    const cpuBefore = cpuOf(pids());
    const started = performance.now();
    const acceptedMs = await begin(TRANSFERS, transfer);
    const ids = [...acceptedMs.keys()];
    await waitUntilCompleted(pool, ids);
    const seconds = (performance.now() - started) / 1000;
    const cpuMs = [...cpuOf(pids())].map(([name, used]): [string, number] => [
      name,
      rounded(((used - (cpuBefore.get(name) ?? 0)) * 1000) / TRANSFERS),
    ]);
    const times = await timesOf(pool, ids);
    const perSecond = TRANSFERS / seconds;
    return {
      transfers: TRANSFERS,
      perSecond: rounded(perSecond),
      oneByOnePerSecond: rounded(oneByOnePerSecond),
      ratio: rounded(perSecond / oneByOnePerSecond),
      operationsPerBundle: rounded(
        times.length / new Set(times.map(({ bundle }) => bundle)).size,
      ),
      p50Ms: phasesOf(times, acceptedMs, 0.5),
      p95Ms: phasesOf(times, acceptedMs, 0.95),
      cpuMs: Object.fromEntries(cpuMs.filter(([, ms]) => ms > 0)),
      cpuShare: rounded(
        (cpuMs.reduce((sum, [, ms]) => sum + ms, 0) * perSecond) /
          1000 /
          availableParallelism(),
      ),
    };
  } finally {
    await pool.end();
  }
};

/**
 * Prints the transfers per second, also divided by thousands of requests per second of a bare
 * node:http server.
 */
export const run = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const { account, client } = await signInAnew(stack.url, CHAIN_ID);
    const apiUrl = `${stack.url}/api`;
    const { databaseUrl } = stack;
    const pids = (): readonly number[] => childrenOf(stack.pid);
    const figures = await benchTransfers({
      databaseUrl,
      pids,
      account,
      client,
      apiUrl,
      chainId: CHAIN_ID,
    });
    const bare = await measureBare();
    const ofBare = rounded((figures.perSecond * 1000) / bare.requestsPerSecond);
    console.log(JSON.stringify({ ...figures, bare: bare.requestsPerSecond, ofBare }, null, 2));
  } finally {
    await stack.stop();
  }
};
