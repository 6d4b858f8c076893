import { beforeAll, expect, inject, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { seededRandom, testLedger } from "@/lib/dev/testing/ledger";
import type { Outcome } from "./snapshot";

const TRANSFERS = 50_000;
const CLIENTS = 32;
const IN_FLIGHT_PER_CLIENT = 8;
const ACCOUNTS = 400;
const START_BASE = 1_000_000_000n;
const OVERDRAFT_BASE = START_BASE * 1000n;

const { url, database } = await testDatabase();
const one = testLedger(url);
const two = testLedger(url);
const { projectId } = one;
const seed = inject("testSeed");
let hot = "";
let accounts: string[] = [];

beforeAll(async () => {
  hot = await one.open("usdc", START_BASE);
  accounts = await Promise.all(
    Array.from({ length: ACCOUNTS }, () => one.open("usdc", START_BASE)),
  );
});

interface Submitted {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly amountBase: bigint;
}

type Random = (below: number) => number;

/**
 * One in five transfers repeats a key of this client. Of the others, one in ten is an overdraft and
 * one in five uses the hot account.
 */
const nextTransfer = (
  random: Random,
  key: string,
  earlier: readonly Submitted[],
): Submitted => {
  const repeated = earlier[random(earlier.length)];
  if (random(100) < 20 && repeated) return repeated;
  const at = random(ACCOUNTS);
  const account = accounts[at] ?? "";
  const isHot = random(100) < 20;
  const other = isHot ? hot : (accounts[(at + 1 + random(ACCOUNTS - 1)) % ACCOUNTS] ?? "");
  // The hot account pays and receives equally often.
  const [from, to] = random(2) === 0 ? [account, other] : [other, account];
  return {
    key,
    from,
    to,
    amountBase: random(100) < 10 ? OVERDRAFT_BASE : BigInt(1 + random(1000)),
  };
};

interface Answered {
  readonly key: string;
  readonly outcome: Outcome;
}

const runClient = async (number: number, share: number): Promise<Answered[]> => {
  const random = seededRandom(seed + number);
  const submitted: Submitted[] = [];
  const answered: Answered[] = [];
  while (submitted.length < share) {
    const burst = Array.from(
      { length: Math.min(IN_FLIGHT_PER_CLIENT, share - submitted.length) },
      () => {
        const next = nextTransfer(
          random,
          `${String(number)}/${String(submitted.length)}`,
          submitted,
        );
        submitted.push(next);
        return next;
      },
    );
    // Picks one of two instances, so that the same key is also used on both.
    const answers = burst.map(async (transfer) => {
      const { ledger } = random(2) === 0 ? one : two;
      const common = { kind: "transfer", projectId, currency: "usdc", by: "client" } as const;
      return { key: transfer.key, outcome: await ledger.post({ ...common, ...transfer }) };
    });
    answered.push(...(await Promise.all(answers)));
  }
  return answered;
};

test(
  "50,000 transfers over two instances: repeated keys count once, overdrafts are refused, and every sum is right",
  { timeout: 300_000 },
  async () => {
    const started = performance.now();
    const shares = Array.from({ length: CLIENTS }, (_, at) =>
      Math.floor((TRANSFERS + at) / CLIENTS),
    );
    const answered = (
      await Promise.all(shares.map((share, number) => runClient(number, share)))
    ).flat();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);

    const replayed = answered.filter(({ outcome }) => outcome.replayed).length;
    const accepted = answered.filter(
      ({ outcome }) => outcome.posted && !outcome.replayed,
    ).length;
    const refused = answered.flatMap(({ outcome }) =>
      outcome.posted || outcome.replayed ? [] : [outcome],
    );
    const counts = `${String(accepted)} accepted, ${String(refused.length)} refused, ${String(replayed)} replayed`;
    console.log(`Ledger load: seed ${String(seed)}: ${counts} in ${seconds} s`);
    expect(accepted + refused.length + replayed).toBe(TRANSFERS);
    expect(new Set(refused.map(({ rejection }) => rejection.code))).toEqual(
      new Set(["insufficient_balance"]),
    );

    const answers = new Map<string, string>();
    for (const { key, outcome } of answered) {
      const answer = `${String(outcome.posted)} ${String(outcome.transactionId)}`;
      expect(answers.get(key) ?? answer).toBe(answer);
      answers.set(key, answer);
    }
    const { figures, violations } = await one.verify();
    expect(violations).toEqual([]);
    const preparations = 2 * (ACCOUNTS + 1);
    expect(figures.transactions - preparations).toBe(accepted + refused.length);
    expect(figures.rejected).toBe(refused.length);
    expect(figures.entries).toBe(2 * (accepted + ACCOUNTS + 1));
    expect(figures.liabilities).toEqual({ usdc: String(START_BASE * BigInt(ACCOUNTS + 1)) });
    const { rows } = await database.pool.query<{ deadlocks: string }>(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    expect(rows[0]?.deadlocks).toBe("0");
  },
);
