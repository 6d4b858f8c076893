/**
 * Attacks on the audit log by somebody who owns the tables. Each is found and named, with the time
 * of the last seal that still matches.
 */
import pg from "pg";
import { beforeAll, afterAll, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { TABLE_RIGHTS } from "@/lib/platform/db/roles/app-role";
import { sqlOn } from "@/lib/platform/db/sql";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import {
  auditAttacks,
  type AuditAttack,
  type OlderHead,
} from "@/lib/dev/testing/audit-attacks";
import { recordAuditRows } from "@/lib/dev/testing/audit-log";
import { testDatabase } from "@/lib/dev/testing/database";
import { encodeAnchor } from "./rules";
import { ANCHORED, insertAnchor } from "./anchor-repository";
import { newestSeal } from "./chain-repository";
import { createAuditLinker } from "./linker";
import { recordAudit } from "./service";
import type { SavedHeads } from "./rules";
import { type AuditReport, verifyAudit } from "./verify";
import type { AnchorChains } from "./verify-anchors";

const secrets = createSecrets("dev_0123456789abcdef0123456789abcdef");
const [A, B, C] = [newId("project"), newId("project"), newId("project")];
const TX = `0x${"ab".repeat(32)}` as const;
const CHAIN = 31337;

const { database, ownerUrl } = await testDatabase();
const linker = createAuditLinker({ database, secrets, clock: systemClock, sealEveryMs: 0 });
const owner = new pg.Client({ connectionString: ownerUrl });

/** The data of the transaction that anchors seal 2. */
let onChain: ReturnType<typeof encodeAnchor>;
const chains: AnchorChains = {
  dataOf: (_, hash) => Promise.resolve(hash === TX ? onChain : null),
};
let saved: SavedHeads;
/** The head row of chain A as it was after each seal. */
const olderHeads: OlderHead[] = [];

const verify = (
  options: Parameters<typeof verifyAudit>[2] = { chains },
): Promise<AuditReport> => verifyAudit(sqlOn(owner), secrets, options);

const noteHead = async (): Promise<void> => {
  const { rows } = await database.pool.query<OlderHead>(
    "SELECT seq, hash, mac FROM audit_head WHERE chain = $1",
    [A],
  );
  olderHeads.push(...rows);
};

/** Stores an anchor of the newest seal like the service does. */
const anchor = async (): Promise<void> => {
  const seal = await newestSeal(sqlOn(database.pool));
  if (seal === null) throw new Error("There is no seal.");
  onChain = encodeAnchor(seal);
  const at = new Date();
  const stored = {
    chainId: CHAIN,
    day: "2026-11-29",
    sealNumber: seal.number,
    txHash: TX,
    blockNumber: 7n,
    blockAt: at,
  };
  await database.transaction(async (tx) => {
    await insertAnchor(tx, stored, at);
    const entry = {
      projectId: null,
      actor: "system",
      action: ANCHORED,
      subject: TX,
      request: null,
      at,
    };
    await recordAudit(tx, entry);
  });
};

beforeAll(async () => {
  await owner.connect();
  // The three seals that the attacks expect.
  await recordAuditRows(database, A, 3);
  await recordAuditRows(database, B, 2);
  await linker.link();
  await noteHead();
  await recordAuditRows(database, A, 2);
  await linker.link();
  await noteHead();
  await anchor();
  await recordAuditRows(database, B, 2);
  await recordAuditRows(database, C, 2);
  await linker.link();
  const report = await verify();
  expect(report).toMatchObject({
    chains: 4,
    rows: 12,
    seals: 3,
    anchors: 1,
    violations: [],
    unchecked: [],
  });
  expect(report.wholeUntil).toMatchObject({ number: 3 });
  saved = report.heads;
});
afterAll(() => owner.end());

const ATTACKS = auditAttacks({ projects: [A, B, C], olderHeads });

const optionsOf = (by: AuditAttack["by"]): Parameters<typeof verifyAudit>[2] => {
  if (by === "saved heads") return { saved };
  if (by === "an anchor that the operator knows")
    return { chains, knownAnchors: [{ chainId: CHAIN, txHash: TX }] };
  return { chains };
};

test.each(ATTACKS)("$table: $name", async ({ statements, found, until, by }) => {
  await owner.query("BEGIN");
  try {
    await owner.query("SET LOCAL session_replication_role = replica");
    for (const [text, values] of statements) await owner.query(text, [...(values?.() ?? [])]);
    const report = await verify(optionsOf(by));
    expect(report.violations).toContainEqual(expect.stringMatching(found));
    expect(report.wholeUntil?.number ?? null).toBe(until);
  } finally {
    await owner.query("ROLLBACK");
  }
});

test("every table of the audit log is attacked", () => {
  const tables = Object.keys(TABLE_RIGHTS).filter((table) => table.startsWith("audit_"));
  expect([...new Set(ATTACKS.map(({ table }) => table))].sort()).toEqual(tables.sort());
});

test("an anchor whose chain does not answer is named, and is no change", async () => {
  const { violations, unchecked } = await verify({});
  expect([violations, unchecked]).toEqual([
    [],
    [
      expect.stringMatching(
        /^the anchor 0xab\S+ on chain 31337 of 2026-11-29 was not compared with its chain: no chain/,
      ),
    ],
  ]);
});

test("two instances that seal at once make one seal of each state, and seals name only the chains that grew", async () => {
  await recordAuditRows(database, A, 1);
  const other = createAuditLinker({ database, secrets, clock: systemClock, sealEveryMs: 0 });
  await Promise.all([linker.link(), other.link(), other.link()]);
  await linker.link();
  const { rows } = await database.pool.query<{ number: string; chain: string; seq: string }>(
    "SELECT number, chain, seq FROM audit_seal_head WHERE number > 3",
  );
  expect(rows).toEqual([{ number: "4", chain: A, seq: "6" }]);
  expect(await verify()).toMatchObject({ seals: 4, violations: [] });
});
