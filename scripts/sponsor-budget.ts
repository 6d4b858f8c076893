/**
 * `npm run sponsor-budget -- <project> [<chain> [--daily <coins|default>] [--operation <coins|default>]]`: shows what the sponsor pays
 * for a project's network fees, and sets its limits on one chain, in the chain's coin. `default` takes the chain file's.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createChainRegistry } from "../lib/chains/registry";
import { chainsFile } from "../lib/config/chains";
import { systemClock } from "../lib/core/clock";
import { parseAmount } from "../lib/core/money";
import { createDatabase } from "../lib/db/client";
import { toSponsorBudgets } from "../lib/modules/sponsorship/serializer";
import { createSponsorshipService } from "../lib/modules/sponsorship/service";
import { findDatabase } from "./database";

const COIN_DECIMALS = 18;
const USAGE = "npm run sponsor-budget -- <project> [<chain> [--daily <coins|default>] [--operation <coins|default>]]";

/** Parses an option: keep the stored value, use the configuration's, or this many wei. */
const weiOf = (option: string | undefined, kept: bigint | null): bigint | null => {
  if (option === undefined) return kept;
  if (option === "default") return null;
  return /^0(\.0*)?$/.test(option) ? 0n : parseAmount(option, COIN_DECIMALS, "the limit");
};

const main = async (): Promise<void> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { daily: { type: "string" }, operation: { type: "string" } },
  });
  const [projectId, chain] = positionals;
  if (projectId === undefined) throw new Error(USAGE);
  const file = process.env.CHAINS_FILE ?? "lib/config/chains/local.json";
  const registry = createChainRegistry(chainsFile.parse(JSON.parse(readFileSync(file, "utf8"))).chains);
  const source = await findDatabase();
  const database = createDatabase(source.url, { poolSize: 1 });
  try {
    const sponsorship = createSponsorshipService({
      database,
      registry,
      clock: systemClock,
      maxFeePerGas: () => Promise.reject(new Error("No chain is asked here.")),
    });
    if (chain !== undefined) {
      const { id: chainId } = registry.get(Number(chain));
      const own = (await sponsorship.operatorBudgets(projectId)).get(chainId);
      const budget = {
        dailyWei: weiOf(values.daily, own?.dailyWei ?? null),
        operationWei: weiOf(values.operation, own?.operationWei ?? null),
      };
      const isThere = await sponsorship.setBudget({ projectId, chainId }, budget);
      if (!isThere) throw new Error(`There is no project ${projectId}.`);
    }
    console.table(toSponsorBudgets(await sponsorship.budgets(projectId)));
  } finally {
    await database.close();
    await source.stop();
  }
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
