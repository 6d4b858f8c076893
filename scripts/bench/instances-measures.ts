/** Measurements of scripts/bench/instances.ts, which starts the instances. */
import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { createWalletsPayout } from "../../lib/contracts/payouts";
import { newId } from "../../lib/core/ids";
import { systemClock } from "../../lib/core/clock";
import { createLedgerRepository } from "../../lib/books/ledger/repository";
import { createLedgerService } from "../../lib/books/ledger/service";
import type { LedgerOrder } from "./ledger-process";
import type { BenchServer } from "./harness";
import { keyClient, newRecipient, transferBy, type Payer } from "./transfers";

const CALLERS_PER_PAYER = 2;
const ROWS = 20;
const POLL_MS = 50;
const LEDGER_IN_FLIGHT = 128;
const ACCOUNTS_PER_PROJECT = 64;
const LEDGER_PROCESS = fileURLToPath(new URL("ledger-process.ts", import.meta.url));

const urlFor = (instances: readonly BenchServer[], number: number): string => {
  const instance = instances[number % instances.length];
  if (instance === undefined) throw new Error("There is no instance.");
  return `${instance.url}/api`;
};

/**
 * Measures how many transfers the instances accept per second. Each payer has its own treasury and
 * sends its requests to one instance.
 */
export const accept = async (
  instances: readonly BenchServer[],
  payers: readonly Payer[],
  measureMs: number,
): Promise<{ readonly accepted: number; readonly perSecond: number }> => {
  const begun = performance.now();
  let accepted = 0;
  const call = async (transfer: ReturnType<typeof transferBy>): Promise<void> => {
    while (performance.now() - begun < measureMs) {
      await transfer(newRecipient());
      accepted += 1;
    }
  };
  await Promise.all(
    payers.flatMap((payer, number) => {
      const transfer = transferBy(payer, urlFor(instances, number));
      return Array.from({ length: CALLERS_PER_PAYER }, () => call(transfer));
    }),
  );
  return { accepted, perSecond: accepted / ((performance.now() - begun) / 1000) };
};

const completed = async (pool: pg.Pool, payoutId: string): Promise<void> => {
  for (;;) {
    const { rows } = await pool.query<{ status: string }>(
      "SELECT status FROM payout WHERE id = $1",
      [payoutId],
    );
    const status = rows[0]?.status ?? "missing";
    if (status === "completed") return;
    if (status !== "pending" && status !== "processing")
      throw new Error(`A payout ended ${status}.`);
    await pause(POLL_MS);
  }
};

/**
 * Measures how many rows of wallet payouts become final per second. Each payer has one payout in
 * progress at a time.
 */
export const paidPerSecond = async (
  instances: readonly BenchServer[],
  payers: readonly Payer[],
  { pool, measureMs }: { readonly pool: pg.Pool; readonly measureMs: number },
): Promise<number> => {
  const begun = performance.now();
  let paid = 0;
  const pay = async (payer: Payer, number: number): Promise<void> => {
    const key = keyClient(payer, urlFor(instances, number));
    while (performance.now() - begun < measureMs) {
      const transfers = Array.from({ length: ROWS }, () => ({
        address: newRecipient(),
        token: "USDC",
        amount: "0.01",
      }));
      const { payoutId } = await key.call(createWalletsPayout, {
        body: { chainId: payer.chainId, transfers },
      });
      if (payoutId === null) throw new Error("A payout was not accepted.");
      await completed(pool, payoutId);
      paid += ROWS;
    }
  };
  await Promise.all(payers.map(pay));
  return paid / ((performance.now() - begun) / 1000);
};

export type LedgerProjects = LedgerOrder["projects"];

/** Creates `count` projects, and opens and funds ledger accounts in each. */
export const ledgerProjects = async (url: string, count: number): Promise<LedgerProjects> => {
  const ledger = createLedgerService({
    repository: createLedgerRepository(url),
    clock: systemClock,
  });
  const common = { currency: "usdc", by: "bench" } as const;
  const open = async (projectId: string): Promise<string> => {
    const id = await ledger.openAccount({ ...common, projectId, key: randomUUID() });
    const funding = { amountBase: 10n ** 12n, liabilitiesMaxBase: null, key: randomUUID() };
    await ledger.fund({ ...common, ...funding, projectId, to: id });
    return id;
  };
  const projects = await Promise.all(
    Array.from({ length: count }, async () => {
      const projectId = newId("project");
      const accounts = await Promise.all(
        Array.from({ length: ACCOUNTS_PER_PROJECT }, () => open(projectId)),
      );
      return { projectId, accounts };
    }),
  );
  await ledger.close();
  return projects;
};

export const startLedgers = async (count: number): Promise<readonly ChildProcess[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const child = fork(LEDGER_PROCESS, [], { execArgv: ["--import", "tsx"] });
      await once(child, "message");
      return child;
    }),
  );

/**
 * Measures ledger transfers per second over all processes. The total number of transfers in flight
 * does not depend on the number of processes.
 */
export const ledgerPerSecond = async (
  processes: readonly ChildProcess[],
  {
    url,
    projects,
    measureMs,
  }: { readonly url: string; readonly projects: LedgerProjects; readonly measureMs: number },
): Promise<number> => {
  const inFlight = Math.ceil(LEDGER_IN_FLIGHT / processes.length);
  const done = await Promise.all(
    processes.map(async (child) => {
      const answer = once(child, "message") as Promise<[{ done: number }]>;
      child.send({ url, measureMs, inFlight, projects } satisfies LedgerOrder);
      return (await answer)[0].done;
    }),
  );
  return (done.reduce((sum, one) => sum + one, 0) / measureMs) * 1000;
};
