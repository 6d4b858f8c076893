import { randomUUID } from "node:crypto";
import { register } from "prom-client";
import { expect, test } from "vitest";
import type { Address } from "viem";
import { CODE_LIMITS } from "@/lib/trust/proofs/code-limits";
import { ownerUrlOf } from "@/lib/dev/testing/owner-urls";
import { testServices } from "@/lib/dev/testing/services";
import { recordBackup } from "@/lib/stack/postgres/backup";
import { driftSampler, replicaSampler } from "./upkeep-samplers";

const NOWHERE: Address = "0x00000000000000000000000000000000c0ffee00";
const HOUR_MS = 3_600_000;
/** Longer than the time for which any of these samples is cached. */
const LATER_MS = 61_000;

const moved = { ms: 0 };
const clock = { now: () => new Date(Date.now() + moved.ms) };
const { database, metrics, config } = await testServices({ overrides: { clock } });

const valueOf = (text: string, series: string): number =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length),
  );
const shown = async (series: string): Promise<number> => {
  moved.ms += LATER_MS;
  return valueOf(await metrics.render(), series);
};
const rendered = async (series: string): Promise<number> =>
  valueOf(await register.metrics(), series);

test("the age of the backup is that of the database until one is recorded, and then of the newest", async () => {
  const age = await shown("causeway_backup_age_seconds");
  expect(age).toBeGreaterThanOrEqual(0);
  const url = ownerUrlOf(config.databaseUrl);
  const ago = (hours: number): { endedAt: string } => ({
    endedAt: new Date(Date.now() - hours * HOUR_MS).toISOString(),
  });
  await recordBackup(url, ago(30));
  expect(await shown("causeway_backup_age_seconds")).toBeGreaterThanOrEqual(30 * 3_600);
  await recordBackup(url, ago(2));
  await recordBackup(url, ago(5));
  const newest = await shown("causeway_backup_age_seconds");
  expect(newest).toBeGreaterThanOrEqual(2 * 3_600);
  expect(newest).toBeLessThan(3 * 3_600);
});

test("the role of the service reads the times of backups, and cannot write them", async () => {
  await expect(
    recordBackup(config.databaseUrl, { endedAt: "2026-01-01T00:00:00Z" }),
  ).rejects.toThrow("permission denied");
});

test("wrong codes are those of the last hour, all together and of whoever gave the most", async () => {
  const guess = (guesser: string, minutesAgo: number) => ({
    bucket: `wrong:${guesser}`,
    at: new Date(clock.now().getTime() - minutesAgo * 60_000),
    id: randomUUID(),
  });
  const data = [
    ...Array.from({ length: CODE_LIMITS.wrongGuesses }, () => guess("one", 5)),
    ...Array.from({ length: 3 }, () => guess("other", 20)),
    guess("other", 70),
    { ...guess("one", 5), bucket: "person:one" },
  ];
  await database.prisma.codeLimit.createMany({ data });
  expect(await shown("causeway_wrong_codes")).toBe(CODE_LIMITS.wrongGuesses + 3);
  expect(await shown("causeway_wrong_codes_most")).toBe(CODE_LIMITS.wrongGuesses);
});

test("batches in doubt are counted, and other failed batches are not", async () => {
  const store = (number: number, state: string, code: string | null) =>
    database.pool.query(
      `INSERT INTO wallet_payout_batch (project_id, payout_id, number, token, rows, amount_base, state, failure, updated_at, wallet_address, chain_id)
       VALUES ('prj_doubt', 'po_doubt', $1, 'native', 1, 1, $2, $3, now(), '0x', 31337)`,
      [number, state, code === null ? null : JSON.stringify({ code })],
    );
  await store(1, "failed", "source_replaced");
  await store(2, "failed", "simulation_failed");
  await store(3, "paid", null);
  expect(await shown("causeway_payout_doubts")).toBe(1);
});

test("the replica's lag grows while it does not answer", async () => {
  let answer: () => Promise<number> = () => Promise.resolve(4);
  const sampler = replicaSampler({ readLag: () => answer(), clock });
  await sampler.sample();
  const before = await rendered("causeway_replica_lag_seconds");
  expect(before).toBeGreaterThanOrEqual(4);
  answer = () => Promise.reject(new Error("gone"));
  moved.ms += 60_000;
  await expect(sampler.sample()).rejects.toThrow("gone");
  expect(await rendered("causeway_replica_lag_seconds")).toBeGreaterThanOrEqual(before + 60);
});

test("facts that a chain contradicts are counted and logged, and a chain that does not answer keeps its count", async () => {
  const [one] = config.chains;
  if (one === undefined) throw new Error("There are local chains.");
  const series = `causeway_chain_fact_drift{chain="${String(one.id)}"}`;
  const logged: object[] = [];
  const sample = (chain: typeof one): Promise<void> =>
    driftSampler({
      chains: [chain],
      facts: { providerContracts: () => [], executor: null, bundlerChainIds: new Set() },
      log: { warn: (fields) => logged.push(fields) },
    }).sample();
  await sample(one);
  expect([await rendered(series), logged]).toEqual([0, []]);
  await sample({ ...one, contracts: { ...one.contracts, permit2: NOWHERE } });
  expect(await rendered(series)).toBe(1);
  expect(logged).toMatchObject([
    { faults: [`${one.name}: there is no contract at ${NOWHERE} (permit2)`] },
  ]);
  await sample({ ...one, rpcUrls: ["http://127.0.0.1:9"] });
  expect(await rendered(series)).toBe(1);
});
