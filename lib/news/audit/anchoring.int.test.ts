/** Seals that the executor anchors on a local chain. */
import { vi, beforeAll, expect, test } from "vitest";
import { privateKeyToAddress } from "viem/accounts";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { recordAuditRows } from "@/lib/dev/testing/audit-log";
import { asOwner } from "@/lib/dev/testing/database";
import { testServices } from "@/lib/dev/testing/services";
import { decodeAnchor } from "./rules";
import { readAnchors } from "./anchor-repository";
import { newestSeal } from "./chain-repository";
import { createAuditAnchoring } from "./anchoring";
import { createAuditLinker } from "./linker";
import { verifyAudit } from "./verify";
import type { AnchorChains } from "./verify-anchors";

const CHAIN_ID = 31337;
const WAIT = { timeout: 60_000, interval: 200 };

const { config, database, registry, transactions } = await testServices();
const secrets = createSecrets(config.appSecret);
const sql = sqlOn(database.pool);
const executorAddress = privateKeyToAddress(config.executorPrivateKey ?? "0x");
let now = new Date("2026-03-01T12:00:00Z");
const clock = { now: () => now };
const linker = createAuditLinker({
  database,
  secrets,
  clock: { now: () => new Date() },
  sealEveryMs: 0,
});
const deps = { database, transactions, registry, clock, chainId: CHAIN_ID, executorAddress };
const [one, other] = [createAuditAnchoring(deps), createAuditAnchoring(deps)];

const chains: AnchorChains = {
  dataOf: async (chainId, hash) =>
    (await registry.client(chainId).getTransaction({ hash })).input,
};
const sent = (): Promise<
  readonly { purpose: string; to: string; data: `0x${string}`; value: string }[]
> =>
  sql.query(
    "SELECT purpose, \"to\", data, value FROM chain_transaction WHERE purpose LIKE 'audit-anchor:%' ORDER BY purpose",
    [],
  );
const stored = async () => (await readAnchors(sql)).anchors;

/** Records entries, and seals them. */
const grow = async (): Promise<number> => {
  await recordAuditRows(database, newId("project"), 2);
  await linker.link();
  return (await newestSeal(sql))?.number ?? 0;
};

/** Waits until the day's anchor is final and stored. */
const anchored = (count: number) =>
  vi.waitFor(async () => {
    await registry.client(CHAIN_ID).request({ method: "evm_mine" as never });
    await transactions.reconcile(CHAIN_ID);
    await one.anchorWhenDue();
    expect(await stored()).toHaveLength(count);
  }, WAIT);

beforeAll(grow);

test("instances that anchor at once send the newest seal once a day, from the executor to itself", async () => {
  const seal = await newestSeal(sql);
  await Promise.all([one.anchorWhenDue(), other.anchorWhenDue(), one.anchorWhenDue()]);
  await other.anchorWhenDue();
  const [transaction, ...more] = await sent();
  expect(more).toEqual([]);
  expect(transaction).toMatchObject({
    purpose: "audit-anchor:2026-03-01",
    to: executorAddress,
    value: "0",
  });
  const named = decodeAnchor(transaction?.data ?? "0x");
  expect(named?.number).toBe(seal?.number);
  expect(Buffer.from(named?.hash ?? [])).toEqual(Buffer.from(seal?.hash ?? []));
});

test("an anchor is stored once it is final, with an entry of the audit log, and fits the chain", async () => {
  await anchored(1);
  await Promise.all([one.anchorWhenDue(), other.anchorWhenDue()]);
  const [anchor, ...more] = await stored();
  expect(more).toEqual([]);
  const receipt = await registry
    .client(CHAIN_ID)
    .getTransactionReceipt({ hash: anchor?.txHash ?? "0x" });
  expect(anchor).toMatchObject({
    chainId: CHAIN_ID,
    day: "2026-03-01",
    blockNumber: receipt.blockNumber,
  });
  const entries = await database.prisma.auditEvent.findMany({
    where: { action: "audit.anchored" },
  });
  expect(entries).toMatchObject([
    { projectId: null, subject: anchor?.txHash, data: { day: "2026-03-01" } },
  ]);
  await linker.link();
  expect(await verifyAudit(sql, secrets, { chains })).toMatchObject({
    anchors: 1,
    violations: [],
    unchecked: [],
  });
});

test("the next day has an anchor of its own, also when the one before was never looked at again", async () => {
  const number = await grow();
  now = new Date("2026-03-03T00:00:01Z");
  await one.anchorWhenDue();
  now = new Date("2026-03-04T00:00:01Z");
  await grow();
  await one.anchorWhenDue();
  expect((await sent()).map(({ purpose }) => purpose)).toEqual([
    "audit-anchor:2026-03-01",
    "audit-anchor:2026-03-03",
    "audit-anchor:2026-03-04",
  ]);
  await anchored(3);
  expect((await stored()).map(({ day }) => day)).toEqual([
    "2026-03-01",
    "2026-03-03",
    "2026-03-04",
  ]);
  expect((await stored())[1]?.sealNumber).toBe(number);
});

test("seals that were made anew after their anchor are found by the chain alone", async () => {
  const newest = (await stored()).at(-1)?.sealNumber ?? 0;
  await asOwner(config.databaseUrl, "DELETE FROM audit_seal WHERE number >= $1", [newest]);
  await asOwner(config.databaseUrl, "DELETE FROM audit_seal_head WHERE number >= $1", [newest]);
  await asOwner(config.databaseUrl, "UPDATE audit_head SET sealed_seq = 0");
  // The service seals the remaining entries, with valid codes.
  await linker.link();
  const report = await verifyAudit(sql, secrets, { chains });
  expect(report.violations).toEqual([
    expect.stringMatching(
      /^anchors: seal \d+ is not the one of the anchor 0x\w+ on chain 31337 of 2026-03-04; the seals were made anew$/,
    ),
  ]);
  expect(report.wholeUntil?.number).toBe(newest - 1);
});
