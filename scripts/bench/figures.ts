/**
 * `npm run bench figures`: measures the figures for which docs/figures.md sets goals, and prints
 * them as a table and as JSON. A benchmark, not a test.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { PrivateKeyAccount } from "viem/accounts";
import { freePort } from "../../lib/platform/os/ports";
import { environmentOf, startStack } from "../../e2e/support/stack";
import type { ApiClient } from "../../lib/api-client/client";
import { createApiKey } from "../../lib/contracts/api-keys";
import { verifyEmail } from "../../lib/contracts/auth";
import { readInbox, useFaucet } from "../../lib/contracts/dev";
import { getOperation } from "../../lib/contracts/operations";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "../../lib/contracts/swap";
import { swapAndTransfer } from "../../lib/contracts/transfers";
import { listWallets } from "../../lib/contracts/wallets";
import { isFinal } from "../../lib/core/status";
import { sendEmailCode } from "../../lib/dev/testing/approve";
import { benchBalances } from "./balances";
import { benchCommits, withCommitDatabase } from "./commits";
import { benchHttp } from "./http";
import { benchPayouts, type PayoutTimes } from "./payouts";
import { benchQuoteOverhead } from "./quote";
import { childrenOf, quantile, signInAnew } from "./harness";
import { benchStreams, STREAM_KEYS, type StreamFigures } from "./streams";
import { benchTransfers } from "./transfers";

const QUOTES = 60;
const QUOTES_WARM = 10;
const SWAPS = 10;
const SWAPS_WARM = 1;
const POLL_MS = 20;
const SWAP_TIMEOUT_MS = 60_000;
const REST_MS = 10_000;
const START_TIMEOUT_MS = 60_000;
const [ONE, TWO, THREE] = [31337, 31338, 31339] as const;

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly goal: string;
  readonly met: boolean;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Customer {
  readonly account: PrivateKeyAccount;
  readonly client: ApiClient;
  readonly treasury: `0x${string}`;
  readonly apiKey: string;
  readonly email: string;
  readonly codes: Set<string>;
}

const newCode = async ({
  client,
  email,
  codes,
}: Pick<Customer, "client" | "email" | "codes">): Promise<string> => {
  for (;;) {
    const { data } = await client.call(readInbox, { query: { to: email, limit: 20 } });
    // The inbox may contain newer mails without a code.
    const mail = data.find(({ id, code }) => code !== undefined && !codes.has(id));
    if (mail?.code !== undefined) {
      codes.add(mail.id);
      return mail.code;
    }
    await pause(POLL_MS);
  }
};

const signUp = async (url: string): Promise<Customer> => {
  const { account, client, treasury } = await signInAnew(url, ONE);
  const email = `${account.address.slice(2, 14).toLowerCase()}@example.test`;
  const codes = new Set<string>();
  await sendEmailCode(account, client, email);
  await client.call(verifyEmail, { body: { code: await newCode({ client, email, codes }) } });
  const { secret } = await client.call(createApiKey, { body: { name: "bench" } });
  return { account, client, treasury, apiKey: secret, email, codes };
};

const benchQuotes = async ({ client, treasury }: Customer): Promise<number[]> => {
  const times: number[] = [];
  for (let round = 0; round < QUOTES_WARM + QUOTES; round++) {
    const started = performance.now();
    await client.call(createQuote, {
      body: {
        from: [{ address: treasury, chainId: ONE, token: "USDT", amount: String(100 + round) }],
        toChainId: TWO,
        toToken: "WETH",
        toAddress: treasury,
      },
    });
    if (round >= QUOTES_WARM) times.push(performance.now() - started);
  }
  return times;
};

const swapOnce = async (customer: Customer): Promise<number> => {
  const { client, treasury } = customer;
  const from = [
    { address: treasury, chainId: ONE, token: "USDC", amount: "20" },
    { address: treasury, chainId: TWO, token: "USDT", amount: "20" },
  ];
  const { quoteId } = await client.call(createQuote, {
    body: { from, toChainId: THREE, toToken: "WETH", toAddress: treasury },
  });
  await client.call(requestOtp, { body: { quoteId } });
  await client.call(prepareSwap, { body: { quoteId, otp: await newCode(customer) } });
  const started = performance.now();
  const { operationId } = await client.call(executeSwap, { body: { quoteId } });
  while (performance.now() - started < SWAP_TIMEOUT_MS) {
    const operation = await client.call(getOperation, { params: { id: operationId } });
    if (isFinal(operation.status)) {
      if (operation.status !== "completed")
        throw new Error(`A swap ended ${operation.status}.`);
      return performance.now() - started;
    }
    await pause(POLL_MS);
  }
  throw new Error("A swap was not completed in time.");
};

const benchSwaps = async (customer: Customer): Promise<number[]> => {
  const { client, treasury } = customer;
  await client.call(useFaucet, {
    body: { address: treasury, chainId: ONE, token: "USDC", amount: "10000" },
  });
  await client.call(useFaucet, {
    body: { address: treasury, chainId: TWO, token: "USDT", amount: "10000" },
  });
  const times: number[] = [];
  for (let round = 0; round < SWAPS_WARM + SWAPS; round++) {
    const took = await swapOnce(customer);
    if (round >= SWAPS_WARM) times.push(took);
  }
  return times;
};

/**
 * Measures event streams of an operation that waits for a person's approval, so that the streams
 * are idle.
 */
const benchIdleStreams = async (
  stack: { url: string; pid: number },
  customer: Customer,
): Promise<StreamFigures> => {
  const { client, treasury } = customer;
  await client.call(useFaucet, {
    body: { address: treasury, chainId: ONE, token: "USDC", amount: "10" },
  });
  const { data: wallets } = await client.call(listWallets, {});
  const { operationId } = await client.call(swapAndTransfer, {
    body: {
      fromWalletId: wallets[0]?.id ?? "",
      fromChainId: ONE,
      toChainId: ONE,
      fromToken: "USDC",
      toToken: "WETH",
      amount: "5",
      recipient: customer.account.address,
    },
  });
  const apiKeys: string[] = [];
  for (let key = 0; key < STREAM_KEYS; key += 1)
    apiKeys.push(
      (await client.call(createApiKey, { body: { name: `streams ${String(key)}` } })).secret,
    );
  const isServer = (pid: number): boolean =>
    readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").includes("server.js");
  const pid = childrenOf(stack.pid).find(isServer);
  if (pid === undefined) throw new Error("The server's process was not found.");
  return benchStreams({ serverUrl: stack.url, pid, operationId, apiKeys });
};

/**
 * Memory of the processes in MB. RSS counts PostgreSQL's shared buffers once for each of its
 * processes; PSS divides them among the processes.
 */
const memoryOf = (pids: readonly number[]): { rss: number; pss: number } => {
  const sum = (field: string): number =>
    pids.reduce((total, pid) => {
      try {
        const line = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(
          readFileSync(`/proc/${String(pid)}/smaps_rollup`, "utf8"),
        );
        return total + Number(line?.[1] ?? 0);
      } catch {
        return total;
      }
    }, 0);
  return { rss: Math.round(sum("Rss") / 1024), pss: Math.round(sum("Pss") / 1024) };
};

/** Starts plain `next start` on the database and chains of the stack, for comparison. */
const startNext = async (
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; child: ChildProcess }> => {
  const port = await freePort();
  const child = spawn(
    "node_modules/.bin/next",
    ["start", "-p", String(port), "-H", "127.0.0.1"],
    {
      env: { ...env, PORT: String(port), NODE_ENV: "production" },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const url = `http://127.0.0.1:${String(port)}`;
  const started = performance.now();
  while (performance.now() - started < START_TIMEOUT_MS) {
    const healthy = await fetch(`${url}/api/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) return { url, child };
    await pause(100);
  }
  throw new Error("next start did not come up.");
};

const print = (figures: readonly Figure[], details: object): void => {
  console.table(
    figures.map(({ name, value, unit, goal, met }) => ({
      figure: name,
      value: `${String(value)} ${unit}`,
      goal,
      met: met ? "yes" : "NO",
    })),
  );
  console.log(JSON.stringify({ figures, details }));
};

/** Runs every measurement on one running stack. */
const measure = async (stack: Awaited<ReturnType<typeof startStack>>) => {
  const environment = environmentOf(stack);
  await pause(REST_MS);
  const memory = memoryOf([stack.pid, ...childrenOf(stack.pid)]);
  const customer = await signUp(stack.url);
  const quotes = await benchQuotes(customer);
  const overhead = await benchQuoteOverhead(environment, customer.treasury);
  const swaps = await benchSwaps(customer);
  const transfers = await benchTransfers({
    databaseUrl: stack.databaseUrl,
    pids: () => childrenOf(stack.pid),
    account: customer.account,
    client: customer.client,
    apiUrl: `${stack.url}/api`,
    chainId: ONE,
  });
  const payouts = await benchPayouts({
    databaseOwnerUrl: stack.databaseOwnerUrl,
    account: customer.account,
    client: customer.client,
    apiUrl: `${stack.url}/api`,
    chainId: TWO,
  });
  const balances = await benchBalances({
    databaseUrl: stack.databaseUrl,
    client: customer.client,
  });
  const streams = await benchIdleStreams(stack, customer);
  // Loads a page before the API is measured, because the API must not become slower when pages were
  // rendered.
  await fetch(`${stack.url}/sign-in`);
  const next = await startNext(environment);
  const http = await benchHttp({
    serverUrl: stack.url,
    nextUrl: next.url,
    apiKey: customer.apiKey,
  }).finally(() => next.child.kill());
  return { memory, quotes, overhead, swaps, transfers, payouts, balances, streams, http };
};

type Measured = Awaited<ReturnType<typeof measure>> & { readonly commits: number };

const figure = (
  name: string,
  value: number,
  unit: string,
  goal: string,
  met: boolean,
): Figure => ({
  name,
  value,
  unit,
  goal,
  met,
});

const round = (value: number): number => Math.round(value * 100) / 100;

/** Figures of requests and event streams. */
const requestFigures = ({ http, streams }: Measured): Figure[] => [
  figure(
    "authenticated GET, server.ts / next start",
    http.timesNext ?? 0,
    "×",
    "≥ 8",
    (http.timesNext ?? 0) >= 8,
  ),
  figure(
    "authenticated GET, server.ts / node:http",
    http.ofBare,
    "×",
    "≥ 0.3",
    http.ofBare >= 0.3,
  ),
  figure(
    "CPU share of 1,000 idle event streams",
    round(streams.cpuShare * 100),
    "%",
    "≤ 2",
    streams.cpuShare <= 0.02,
  ),
  figure(
    "authenticated GET beside 400 streams / without",
    round(streams.ratio),
    "×",
    "≤ 1.5",
    streams.ratio <= 1.5,
  ),
];

/** Returns one figure for each goal of docs/figures.md. */
const figuresOf = (measured: Measured): Figure[] => {
  const { memory, quotes, overhead, swaps, transfers, payouts, balances, commits } = measured;
  const [quote, swap, own] = [
    quantile(quotes, 0.5, 1),
    round(quantile(swaps, 0.5, 1) / 1000),
    quantile(overhead, 0.5, 1),
  ];
  const unified = quantile(balances, 0.5, 1);
  const [answer, paid] = [
    round(quantile(payouts.largest.acceptMs, 0.5, 1) / 1000),
    round(quantile(payouts.largest.paidMs, 0.5, 1) / 1000),
  ];
  const ratioOf = ({ bareInsertMs, acceptMs }: PayoutTimes): number =>
    round(quantile(bareInsertMs, 0.5, 1) / quantile(acceptMs, 0.5, 1));
  return [
    figure("quote, one source, two chains, p50", quote, "ms", "≤ 60", quote <= 60),
    figure("quote, beyond its chain calls, p50", own, "ms", "≤ 10", own <= 10),
    figure("execute → completed, two sources, p50", swap, "s", "≤ 3", swap <= 3),
    figure("transfers from one treasury, at once", transfers.perSecond, "/s", "", true),
    figure(
      "the same, times as many as one by one",
      transfers.ratio,
      "×",
      "≥ 5",
      transfers.ratio >= 5,
    ),
    figure(
      "payout of 1,000 rows over HTTP / bare insert",
      ratioOf(payouts.warm),
      "×",
      "",
      true,
    ),
    figure("the same, the first payouts of a server", ratioOf(payouts.started), "×", "", true),
    figure("payout of 10,000 rows, answer, p50", answer, "s", "≤ 1", answer <= 1),
    figure("payout of 10,000 rows, all final, p50", paid, "s", "≤ 5", paid <= 5),
    figure(
      "balance of 100 wallets, 3 chains, 5 tokens, p50",
      unified,
      "ms",
      "≤ 200",
      unified <= 200,
    ),
    ...requestFigures(measured),
    figure(
      "commits/s of 16 writers, notifying / not",
      round(commits),
      "×",
      "≥ 0.9",
      commits >= 0.9,
    ),
    figure("memory at rest, whole stack (RSS)", memory.rss, "MB", "≤ 1200", memory.rss <= 1200),
  ];
};

const detailsOf = ({
  memory,
  quotes,
  swaps,
  transfers,
  payouts,
  streams,
  http,
}: Measured): object => ({
  quoteP95Ms: quantile(quotes, 0.95, 1),
  swapP95Ms: quantile(swaps, 0.95, 1),
  memoryPssMb: memory.pss,
  payouts: {
    acceptP50Ms: quantile(payouts.warm.acceptMs, 0.5, 1),
    bareInsertP50Ms: quantile(payouts.warm.bareInsertMs, 0.5, 1),
    paidP50Ms: quantile(payouts.warm.paidMs, 0.5, 1),
  },
  transfers,
  streams,
  http,
});

const measureOnStack = async () => {
  const stack = await startStack();
  try {
    return await measure(stack);
  } finally {
    await stack.stop();
  }
};

export const run = async (): Promise<void> => {
  const onStack = await measureOnStack();
  const { announcedRatio: commits } = await withCommitDatabase(benchCommits);
  const measured = { ...onStack, commits };
  print(figuresOf(measured), detailsOf(measured));
};
