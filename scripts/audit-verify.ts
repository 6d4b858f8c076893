/**
 * `npm run audit:verify`: checks the audit log against its hash chains, the chains against the
 * seals, and the seals against their anchors on blockchains. Prints a sentence for each entry that
 * was changed, removed or moved, and the time up to which the log is intact. Exits with 1 when it
 * finds a fault.
 * - `-- --save FILE` saves the head of each chain; keep the file where nobody with access to the
 * database can write
 * - `-- --since FILE` compares with heads that were saved before
 * - `-- --anchor CHAIN:HASH` compares with an anchor that a block explorer shows; may be repeated
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import pg from "pg";
import { TransactionNotFoundError } from "viem";
import { z } from "zod";
import { createChainRegistry } from "../lib/chain/registry";
import type { Config } from "../lib/platform/config/env";
import { sqlOn } from "../lib/platform/db/sql";
import { type AuditReport, verifyAudit } from "../lib/news/audit/verify";
import type { AnchorChains, KnownAnchor } from "../lib/news/audit/verify-anchors";
import { createSecrets } from "../lib/platform/encryption/application-secret";
import { configOf, findDatabase } from "./database";
import { runCommand } from "./command";

const savedHeads = z.record(
  z.string(),
  z.object({ seq: z.number().int().nonnegative(), hash: z.string() }),
);

const ANCHOR = /^(\d+):(0x[0-9a-fA-F]{64})$/;

/**
 * Parses an anchor.
 * @throws Error when the text is not `CHAIN_ID:TRANSACTION_HASH`
 */
const anchorOf = (text: string): KnownAnchor => {
  const [, chainId, txHash] = ANCHOR.exec(text) ?? [];
  if (chainId === undefined || txHash === undefined)
    throw new Error(
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

const show = ({
  chains,
  rows,
  waiting,
  seals,
  anchors,
  unchecked,
  violations,
  wholeUntil,
}: AuditReport): void => {
  const counts = { chains, rows, waiting, seals, anchors };
  for (const [name, count] of Object.entries(counts))
    console.log(`${name.padEnd(8)} ${String(count)}`);
  for (const note of unchecked) console.log(note);
  for (const violation of violations) console.error(violation);
  if (violations.length === 0) return;
  console.error(
    wholeUntil === null
      ? "No seal shows until when the log is as it was recorded."
      : `Everything fits until seal ${String(wholeUntil.number)} of ${wholeUntil.at.toISOString()}; later history was changed or removed.`,
  );
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      save: { type: "string" },
      since: { type: "string" },
      anchor: { type: "string", multiple: true },
    },
  });
  if (existsSync(".env")) process.loadEnvFile(".env");
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
    show(report);
    if (values.save !== undefined)
      writeFileSync(values.save, `${JSON.stringify(report.heads, null, 2)}\n`);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const isWhole = report.violations.length === 0;
    const sealed =
      report.wholeUntil === null
        ? "no seal yet"
        : `sealed until ${report.wholeUntil.at.toISOString()}`;
    const verdict = isWhole ? `The audit log is whole, ${sealed}` : "The audit log was CHANGED";
    console.log(`${verdict} (${seconds} s).`);
    return isWhole ? 0 : 1;
  } finally {
    await pool.end();
    await source.stop();
  }
};

await runCommand(main);
