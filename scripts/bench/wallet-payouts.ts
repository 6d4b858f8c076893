/**
 * `npm run bench wallet-payouts`: measures the gas and duration of payouts to wallets, and prints
 * Markdown tables. Starts its own stack. A benchmark, not a test.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import {
  createPublicClient,
  getAddress,
  http,
  keccak256,
  parseAbiItem,
  stringToHex,
  type Address,
} from "viem";
import { startStack, type Stack } from "../../e2e/support/stack";
import { createApiClient, type ApiClient } from "../../lib/api-client/client";
import { useFaucet } from "../../lib/contracts/dev";
import { createWalletsPayout } from "../../lib/contracts/payouts";
import { approvedKey } from "../../lib/dev/testing/approve";
import { signInAnew } from "./harness";
import { benchGas, FLOOR, FLOOR_OF_OPERATION, type GasRow } from "./wallet-payouts-gas";

const CHAIN_ID = 31337;
const COUNTS = [1_000, 10_000] as const;
const POLL_MS = 50;
const TIMEOUT_MS = 180_000;
/** Pause before a measurement, in which the processes may free memory of earlier work. */
const REST_MS = 5_000;
const transferEvent = parseAbiItem(
  "event Transfer(address indexed from, address indexed to, uint256 value)",
);

interface Payer {
  readonly key: ApiClient;
  readonly treasury: Address;
}

/** Signs up a person, gives the person money, and creates an API key that needs no code. */
const signUp = async ({ url }: Stack): Promise<Payer> => {
  const { account, client, treasury } = await signInAnew(url, CHAIN_ID);
  await client.call(useFaucet, {
    body: { address: treasury, chainId: CHAIN_ID, token: "USDC", amount: "1000000" },
  });
  const { secret } = await approvedKey(account, client, {
    name: "bench",
    otp: "exempt",
    dailyCapUsd: "1000000",
  });
  return {
    key: createApiClient({ baseUrl: `${url}/api`, headers: () => ({ "x-api-key": secret }) }),
    treasury,
  };
};

/** Returns the ids of all descendants of a process. */
const childrenOf = (pid: number): number[] => {
  try {
    const text = readFileSync(
      `/proc/${String(pid)}/task/${String(pid)}/children`,
      "utf8",
    ).trim();
    return text === ""
      ? []
      : text.split(/\s+/).flatMap((child) => [Number(child), ...childrenOf(Number(child))]);
  } catch {
    return [];
  }
};

const memoryOf = (stack: Stack): number => {
  let kilobytes = 0;
  for (const pid of [stack.pid, ...childrenOf(stack.pid)]) {
    try {
      // Counts only the server and its worker, because the chains and PostgreSQL are not part of
      // the service.
      if (!readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").includes("server.js")) continue;
      const rss = /^VmRSS:\s+(\d+)/m.exec(
        readFileSync(`/proc/${String(pid)}/status`, "utf8"),
      )?.[1];
      kilobytes += Number(rss ?? 0);
    } catch {
      // The process ended before its figures could be read.
    }
  }
  return Math.round(kilobytes / 1024);
};

interface Timing {
  readonly rows: number;
  readonly answerMs: number;
  /**
   * Milliseconds from the request until every row is paid and has the chain's required
   * confirmations.
   */
  readonly paidMs: number;
  readonly memoryBeforeMb: number;
  readonly memoryMaxMb: number;
}

const recipientsOf = (count: number): Address[] =>
  Array.from({ length: count }, () =>
    getAddress(`0x${keccak256(stringToHex(randomUUID())).slice(-40)}`),
  );

const payOnce = async (
  stack: Stack,
  pool: pg.Pool,
  { key, treasury }: Payer,
  count: number,
): Promise<Timing> => {
  const recipients = recipientsOf(count);
  const transfers = recipients.map((address, index) => ({
    address,
    token: "USDC",
    amount: `0.${String(10_000 + index)}`,
  }));
  await pause(REST_MS);
  const memoryBeforeMb = memoryOf(stack);
  let memoryMaxMb = memoryBeforeMb;
  const started = performance.now();
  const { payoutId } = await key.call(createWalletsPayout, {
    body: { chainId: CHAIN_ID, transfers },
  });
  const answerMs = performance.now() - started;
  for (;;) {
    memoryMaxMb = Math.max(memoryMaxMb, memoryOf(stack));
    const { rows } = await pool.query<{ status: string }>(
      "SELECT status FROM payout WHERE id = $1",
      [payoutId],
    );
    const status = rows[0]?.status ?? "missing";
    if (status === "completed") break;
    if (status !== "pending" && status !== "processing")
      throw new Error(`A payout ended ${status}.`);
    if (performance.now() - started > TIMEOUT_MS)
      throw new Error("A payout was not paid in time.");
    await pause(POLL_MS);
  }
  const paidMs = performance.now() - started;
  await requirePaidOnce(stack, treasury, new Set(recipients));
  return { rows: count, answerMs, paidMs, memoryBeforeMb, memoryMaxMb };
};

/** Checks on chain that each recipient got exactly one `Transfer` from the treasury. */
const requirePaidOnce = async (
  stack: Stack,
  treasury: Address,
  recipients: ReadonlySet<string>,
): Promise<void> => {
  const client = createPublicClient({ transport: http(stack.rpcUrls[String(CHAIN_ID)]) });
  const logs = await client.getLogs({
    event: transferEvent,
    args: { from: treasury },
    fromBlock: 0n,
    strict: true,
  });
  const paid = logs.map(({ args }) => args.to).filter((to) => recipients.has(to));
  if (paid.length !== recipients.size || new Set(paid).size !== recipients.size)
    throw new Error(
      `${String(paid.length)} payments went to ${String(recipients.size)} recipients.`,
    );
};

const benchTimes = async (): Promise<readonly Timing[]> => {
  const stack = await startStack();
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 });
  try {
    const payer = await signUp(stack);
    // The first operation also deploys the treasury, so it is not measured.
    await payOnce(stack, pool, payer, 10);
    const timings: Timing[] = [];
    for (const count of COUNTS) timings.push(await payOnce(stack, pool, payer, count));
    return timings;
  } finally {
    await pool.end();
    await stack.stop();
  }
};

const number = (value: number): string => value.toLocaleString("en-US");

/**
 * Makes a table that shows each figure with its ratio to the two lower bounds for the same number
 * of rows, where they were measured.
 */
const gasTable = (rows: readonly GasRow[]): string => {
  const cell = ({ rows: count, ...own }: GasRow, field: "newHolder" | "holder"): string => {
    const floors = [FLOOR, FLOOR_OF_OPERATION].flatMap(
      (floor) => rows.find(({ way, rows: of }) => way === floor && of === count)?.[field] ?? [],
    );
    return [
      number(own[field]),
      ...floors.map((floor) => `${(own[field] / floor).toFixed(3)} ×`),
    ].join(" · ");
  };
  return [
    "| Way | Rows | Gas per new holder · × floor · × floor of a user operation | The same per holder |",
    "| --- | --- | --- | --- |",
    ...rows.map(
      (row) =>
        `| ${row.way} | ${String(row.rows)} | ${cell(row, "newHolder")} | ${cell(row, "holder")} |`,
    ),
  ].join("\n");
};

const timeTable = (timings: readonly Timing[]): string =>
  [
    "| Rows | Answer | Accepted → every row final | Memory of the server, before → highest |",
    "| --- | --- | --- | --- |",
    ...timings.map(({ rows, answerMs, paidMs, memoryBeforeMb, memoryMaxMb }) => {
      const growth = `${String(memoryBeforeMb)} → ${String(memoryMaxMb)} MB`;
      return `| ${number(rows)} | ${number(Math.round(answerMs))} ms | ${(paidMs / 1000).toFixed(1)} s | ${growth} |`;
    }),
  ].join("\n");

export const run = async (): Promise<void> => {
  console.log(gasTable(await benchGas()));
  console.log(`\n${timeTable(await benchTimes())}`);
};
