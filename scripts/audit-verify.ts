import { readFileSync, writeFileSync } from "node:fs";
import pg from "pg";
import { TransactionNotFoundError } from "viem";
import { z } from "zod";
import { createChainRegistry } from "../lib/chain/registry";
import type { Config } from "../lib/platform/config/env";
import { sqlOn } from "../lib/platform/db/sql";
import { type AuditReport, verifyAudit } from "../lib/news/audit/verify";
import type { AnchorChains, KnownAnchor } from "../lib/news/audit/verify-anchors";
import { createSecrets } from "../lib/platform/encryption/application-secret";
import { defineCommand, NEEDS, type Output, UsageError } from "./command";
import { configOf, findDatabase } from "./database";

const savedHeads = z.record(
  z.string(),
  z.object({ seq: z.number().int().nonnegative(), hash: z.string() }),
);

const ANCHOR = /^(\d+):(0x[0-9a-fA-F]{64})$/;

/**
 * Parses an anchor.
 * @throws UsageError when the text is not `CHAIN_ID:TRANSACTION_HASH`
 */
const anchorOf = (text: string): KnownAnchor => {
  const [, chainId, txHash] = ANCHOR.exec(text) ?? [];
  if (chainId === undefined || txHash === undefined)
    throw new UsageError(
      `--anchor takes the id of a chain and the hash of a transaction: 8453:0x…, and not ${text}`,
    );
  return { chainId: Number(chainId), txHash: txHash.toLowerCase() as `0x${string}` };
};

const chainsOf = ({ chains }: Config): AnchorChains => {
  const registry = createChainRegistry(chains);
  return {
    dataOf: async (chainId, hash) => {
      try {
        return (await registry.client(chainId).getTransaction({ hash })).input;
      } catch (error) {
        if (error instanceof TransactionNotFoundError) return null;
        throw error;
      }
    },
  };
};

const show = (report: AuditReport, output: Output): void => {
  const { chains, rows, waiting, seals, anchors, unchecked, violations, wholeUntil } = report;
  const counts = { chains, rows, waiting, seals, anchors };
  for (const [name, count] of Object.entries(counts))
    output.say(`${name.padEnd(8)} ${String(count)}`);
  for (const note of unchecked) output.say(note);
  for (const violation of violations) output.fault(violation);
  if (violations.length === 0) return;
  output.fault(
    wholeUntil === null
      ? "No seal shows until when the log is as it was recorded."
      : `Everything fits until seal ${String(wholeUntil.number)} of ${wholeUntil.at.toISOString()}; later history was changed or removed.`,
  );
};

const verdictOf = ({ violations, wholeUntil }: AuditReport): string => {
  if (violations.length > 0) return "The audit log was CHANGED";
  const sealed =
    wholeUntil === null ? "no seal yet" : `sealed until ${wholeUntil.at.toISOString()}`;
  return `The audit log is whole, ${sealed}`;
};

export const command = defineCommand({
  options: {
    save: {
      type: "string",
      value: "FILE",
      about:
        "saves the head of each chain; keep the file where nobody with access to the database can write",
    },
    since: {
      type: "string",
      value: "FILE",
      about: "compares with heads that were saved before",
    },
    anchor: {
      type: "string",
      value: "CHAIN:HASH",
      multiple: true,
      about: "compares with an anchor that a block explorer shows; may be repeated",
    },
  },
  environment: [NEEDS.database, NEEDS.service],
  notDone: "the log was changed",
  run: async ({ values, output }) => {
    const saved =
      values.since === undefined
        ? {}
        : savedHeads.parse(JSON.parse(readFileSync(values.since, "utf8")));
    const knownAnchors = (values.anchor ?? []).map(anchorOf);
    const source = await findDatabase();
    const pool = new pg.Pool({ connectionString: source.url, max: 1 });
    try {
      const config = configOf(source.url);
      const secrets = createSecrets(config.appSecret, config.appSecretPrevious);
      const started = performance.now();
      const report = await verifyAudit(sqlOn(pool), secrets, {
        saved,
        chains: chainsOf(config),
        knownAnchors,
      });
      show(report, output);
      const { heads, ...result } = report;
      if (values.save !== undefined)
        writeFileSync(values.save, `${JSON.stringify(heads, null, 2)}\n`);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      output.say(`${verdictOf(report)} (${seconds} s).`);
      const isWhole = report.violations.length === 0;
      return { isDone: isWhole, result: { isWhole, ...result } };
    } finally {
      await pool.end();
      await source.stop();
    }
  },
});
