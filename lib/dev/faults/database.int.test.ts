import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, inject, test, vi } from "vitest";
import { contracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount, testEmail } from "@/lib/dev/testing/factories";
import { serveApi } from "@/lib/dev/testing/http";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { ownPostgres } from "@/lib/dev/testing/own-postgres";
import { randomOf } from "@/lib/dev/testing/random";

const CHAIN_ID = 31337;
const CONNECTIONS_MAX = 20;
/** Two kills; more rounds add three each. */
const ROUNDS = inject("crashRounds");
const KILLS = 2 + 3 * (ROUNDS - 1);
const BACK_MS = 60_000;
/** On a busy machine a second or two are not enough to call half of the routes. */
const ASKED = { timeout: 60_000, interval: 100 };

const postgres = await ownPostgres();
const api = await testApi({ worker: true, variables: { DATABASE_URL: postgres.url } });
const url = await serveApi(api.services);
let customer: Customer;
beforeAll(async () => {
  customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN_ID,
    token: "USDC",
    amount: "1000",
  });
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/**
 * The error of an interrupted download. The server closes the connection of a download that it
 * cannot finish, so that no caller treats it as complete.
 */
const CUT = "cut";

/** A stream of events never ends by itself, so only its first part is read. */
const textOf = async (response: Response): Promise<string> => {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return response.text().catch(() => CUT);
  await response.body?.cancel().catch(() => undefined);
  return "";
};

/** The latest answer to each keyed request, or a mark that it is still waiting. */
const last = new Map<string, string>();

/** The reason why `fetch` got no answer. */
const reasonOf = (error: unknown): string => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
};

const send = async ({ method, path, body, key }: Asked): Promise<Answered> => {
  const before = key === undefined ? undefined : last.get(key);
  if (key !== undefined)
    last.set(key, `${path} waits for an answer; before: ${before ?? "nothing"}`);
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      // A connection that the server closes while it is idle would look like a lost answer.
      connection: "close",
      authorization: `Bearer ${customer.session.accessToken}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await textOf(response);
  if (key !== undefined)
    last.set(key, `${path} ${String(response.status)} ${text.slice(0, 200)}`);
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: text,
  };
};

const IDS: Readonly<Record<string, string>> = {
  "/operations/{id}": "op",
  "/payouts/{id}": "po",
  "/transfers/{id}": "tr",
  "/global-accounts/{id}": "ga",
  "/contacts/{id}": "ct",
  "/wallets/{id}": "wal",
};

/** A call of any route, with a body that is refused and an unknown id if the route needs them. */
const anyCallOf = ({ method, path, body }: Contract): Asked => {
  const prefix = Object.entries(IDS).find(([start]) => path.startsWith(start))?.[1] ?? "x";
  return {
    method,
    path: path
      .replace("{id}", `${prefix}_019ab5d4-0e2a-7f3a-9d3f-1c2b3a495867`)
      .replace("{address}", testAccount().address),
    ...(body === undefined ? {} : { body: {} }),
  };
};

const goodQuote = () => ({
  from: [{ address: customer.treasury, chainId: CHAIN_ID, token: "USDC", amount: "1" }],
  toChainId: CHAIN_ID,
  toToken: "USDC",
  toAddress: testAccount().address,
});

/**
 * Successful calls of each kind: reads, writes with and without a key, a sign-in, reads of chains.
 */
const goodCalls = (accountId: string): (() => Asked)[] => [
  () => ({ method: "POST", path: "/auth/nonce", body: { address: testAccount().address } }),
  () => ({ method: "PATCH", path: "/me", body: { email: testEmail() } }),
  () => ({
    method: "POST",
    path: "/auth/api-keys",
    body: { name: "k" },
    key: crypto.randomUUID(),
  }),
  () => ({
    method: "POST",
    path: "/contacts",
    body: { name: "c", address: testAccount().address },
    key: crypto.randomUUID(),
  }),
  () => ({
    method: "POST",
    path: "/global-accounts",
    body: { currency: "USDC" },
    key: crypto.randomUUID(),
  }),
  () => ({ method: "GET", path: `/global-accounts/${accountId}/statement` }),
  () => ({ method: "GET", path: `/global-accounts/${accountId}/statement/export` }),
  () => ({ method: "GET", path: "/operations/export" }),
  () => ({ method: "POST", path: "/swap/quote", body: goodQuote() }),
];

/** Excluded, because it ends the session that all others use. */
const ENDS_SESSION = "/auth/logout";

const openAccount = async (): Promise<string> => {
  const { body } = await send({
    method: "POST",
    path: "/global-accounts",
    body: { currency: "USDC" },
  });
  return (JSON.parse(body) as { id: string }).id;
};

/** Repeats calls until it is stopped. */
const keepCalling = (next: () => Asked, wrong: string[], seen: Map<string, Set<number>>) => {
  const state = { on: true };
  const run = async (): Promise<void> => {
    while (state.on) {
      const asked = next();
      const { status, retryAfter, body } = await send(asked);
      const name = `${asked.method} ${asked.path.replace(/0x\w+/, "0x")}`;
      seen.set(name, (seen.get(name) ?? new Set()).add(status));
      const isReady = asked.path === "/ready";
      if (status >= 500 && (status !== 503 || (retryAfter === null && !isReady)))
        wrong.push(`${name}: ${String(status)} ${body.slice(0, 200)}`);
      await sleep(20);
    }
  };
  const done = run();
  return {
    stop: () => {
      state.on = false;
      return done;
    },
  };
};

test(`a process has at most ${String(CONNECTIONS_MAX)} connections under load, all of its pools together`, async () => {
  const accountId = await openAccount();
  const load = Array.from({ length: 40 }, (_, index) =>
    keepCalling(
      () =>
        index % 2 === 0
          ? { method: "GET", path: `/global-accounts/${accountId}/entries` }
          : {
              method: "POST",
              path: "/contacts",
              body: { name: "c", address: testAccount().address },
              key: crypto.randomUUID(),
            },
      [],
      new Map(),
    ),
  );
  const counts: number[] = [];
  for (let sample = 0; sample < 15; sample += 1) {
    const [row] = await postgres.observe<{ count: number }>(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'observer'",
    );
    counts.push(row?.count ?? 0);
    await sleep(50);
  }
  await Promise.all(load.map(({ stop }) => stop()));
  console.log(`Connections under load: ${String(Math.max(...counts))} at most.`);
  expect(Math.max(...counts)).toBeLessThanOrEqual(CONNECTIONS_MAX);
  // Proves that there was load: every connection share was in use.
  expect(Math.max(...counts)).toBeGreaterThan(CONNECTIONS_MAX / 2);
}, 120_000);

test("/ready names every part, and answers while all other connections are busy", async () => {
  const { database } = api.services;
  const busy = Array.from({ length: 30 }, () => database.pool.query("SELECT pg_sleep(2)"));
  const { status, body } = await send({ method: "GET", path: "/ready" });
  await Promise.all(busy);
  const { parts } = JSON.parse(body) as { parts: { name: string; ok: boolean }[] };
  expect([status, parts.map(({ name }) => name)], body).toEqual([
    200,
    [
      "database",
      "locks",
      "worker",
      "clock",
      "disk",
      "signing",
      "mail",
      "chain:31337",
      "chain:31338",
      "chain:31339",
    ],
  ]);
  expect(parts.filter(({ ok }) => !ok)).toEqual([]);
});

const fundBy = (accountId: string, key: string): Promise<Answered> =>
  send({
    method: "POST",
    path: `/global-accounts/${accountId}/fund`,
    body: { amount: "0.01", currency: "USDC" },
    key,
  });

/** The treasury's money counts once its block is final. */
const waitUntilFundable = async (): Promise<void> => {
  const accountId = await openAccount();
  await vi.waitFor(
    async () => expect((await fundBy(accountId, crypto.randomUUID())).status).toBe(201),
    {
      timeout: BACK_MS,
      interval: 200,
    },
  );
};

/**
 * Repeats a keyed request until it is done. Any answer other than 503 and 409, or no answer, is
 * wrong.
 */
const sendUntilDone = async (
  request: () => Promise<Answered>,
  wrong: string[],
): Promise<string> => {
  for (;;) {
    const { status, body } = await request().catch((error: unknown) => ({
      status: 0,
      body: reasonOf(error),
    }));
    if (status === 201) return body;
    if (status !== 503 && status !== 409)
      wrong.push(`keyed: ${String(status)} ${body.slice(0, 200)}`);
    await sleep(50);
  }
};

/** Funds an account with a cent under a distinct key, repeated until it is done. */
const fundOnce = async (accountId: string, key: string, wrong: string[]): Promise<string> => {
  const body = await sendUntilDone(() => fundBy(accountId, key), wrong);
  return (JSON.parse(body) as { transactionId: string }).transactionId;
};

/** Opens an account under a distinct key, repeated until it is done. */
const openOnce = async (key: string, wrong: string[]): Promise<string> => {
  const asked = {
    method: "POST",
    path: "/global-accounts",
    body: { currency: "USDC", name: key },
    key,
  };
  const body = await sendUntilDone(() => send(asked), wrong);
  return (JSON.parse(body) as { id: string }).id;
};

/** Waits until no request with one of these keys is open. */
const untilDone = (keys: ReadonlySet<string>, wrong: readonly string[]): Promise<void> =>
  vi.waitFor(
    () => {
      const open = [...keys].map((key) => last.get(key));
      expect(open, [...open, ...wrong.slice(0, 20)].join("\n")).toEqual([]);
    },
    { timeout: BACK_MS, interval: 20 },
  );

test(
  "PostgreSQL killed under load of every route answers 503 or as always, and keyed requests end as soon as it is back",
  async () => {
    const seed = inject("testSeed");
    const random = randomOf(seed);
    const accountId = await openAccount();
    await waitUntilFundable();
    const wrong: string[] = [];
    const seen = new Map<string, Set<number>>();
    const refusedRoutes = (): number =>
      [...seen.values()].filter((statuses) => statuses.has(503)).length;
    const routes = contracts.filter(({ path }) => path !== ENDS_SESSION);
    const load = [
      ...routes.map((contract) => () => anyCallOf(contract)),
      ...goodCalls(accountId),
    ].map((next) => keepCalling(next, wrong, seen));

    const [funded, opened, openKeys]: [string[], string[], string[]] = [[], [], []];
    const inFlight = new Set<string>();
    let open = 0;
    /** Keys of requests that were in flight at the latest kill, and when the server was back. */
    const crash = { waiting: new Set<string>(), backAtMs: 0 };
    const recoveredMs: number[] = [];
    const keyed = { on: true };
    const run = async (
      work: (key: string) => Promise<string>,
      done: string[],
    ): Promise<void> => {
      while (keyed.on) {
        const key = crypto.randomUUID();
        inFlight.add(key);
        open += 1;
        done.push(await work(key));
        open -= 1;
        inFlight.delete(key);
        if (crash.waiting.delete(key))
          recoveredMs.push(Math.max(0, performance.now() - crash.backAtMs));
      }
    };
    const keyedRuns = [0, 1, 2].flatMap(() => [
      run((key) => fundOnce(accountId, key, wrong), funded),
      run((key) => {
        openKeys.push(key);
        return openOnce(key, wrong);
      }, opened),
    ]);

    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(500 + random() * 1_000);
        await postgres.crash();
        crash.waiting = new Set(inFlight);
        await sleep(500 + random() * 1_500);
        if (kill === KILLS - 1)
          await vi.waitFor(
            () => expect(refusedRoutes()).toBeGreaterThan(routes.length / 2),
            ASKED,
          );
        crash.backAtMs = Infinity;
        await postgres.restart();
        crash.backAtMs = performance.now();
        await untilDone(crash.waiting, wrong);
      }
    } finally {
      keyed.on = false;
      await Promise.all(load.map(({ stop }) => stop()));
    }
    await Promise.all(keyedRuns);

    expect(wrong).toEqual([]);
    // Every route was called while the database was available, and those that need it also while it
    // was not.
    expect(seen.size).toBeGreaterThanOrEqual(routes.length);
    expect(
      [...seen.values()].every((statuses) => [...statuses].some((status) => status < 500)),
    ).toBe(true);
    expect(refusedRoutes()).toBeGreaterThan(routes.length / 2);

    expect(new Set(funded).size).toBe(funded.length);
    const [ledger] = await postgres.observe<{ entries: number; posted: string }>(
      "SELECT count(*)::int AS entries, sum(amount)::text AS posted FROM ledger_entry WHERE account_id = $1",
      [accountId.replace(/^ga_/, "")],
    );
    expect(ledger).toEqual({
      entries: funded.length,
      posted: String(BigInt(funded.length) * 10n ** 16n),
    });
    const accounts = await postgres.observe(
      "SELECT 1 FROM ledger_account WHERE name = ANY($1)",
      [openKeys],
    );
    expect([accounts.length, open]).toEqual([opened.length, 0]);
    expect(new Set(opened).size).toBe(opened.length);
    await vi.waitFor(
      async () =>
        expect(
          await postgres.observe("SELECT key FROM idempotency_key WHERE status = 'in_flight'"),
        ).toEqual([]),
      { timeout: BACK_MS, interval: 100 },
    );
    const sorted = recoveredMs.map(Math.round).sort((a, b) => a - b);
    console.log(
      `Seed ${String(seed)}: ${String(KILLS)} kills of PostgreSQL, ${String(sorted.length)} keyed requests in flight, ` +
        `${String(funded.length + opened.length)} in all, each carried out once; ` +
        `recovery p50 ${String(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms, max ${String(sorted.at(-1) ?? 0)} ms.`,
    );
  },
  60_000 + 60_000 * KILLS,
);
