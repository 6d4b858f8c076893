/**
 * `npm run sponsor-budget -- <project> [<chain> [--daily <coins|default>] [--operation
 * <coins|default>]]`: shows how much of a project's network fees the sponsor pays, and sets the
 * limits for one chain in the chain's coin. `default` restores the limit of the chains file.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createChainRegistry } from "../lib/chain/registry";
import { chainsFile } from "../lib/platform/config/chains";
import { systemClock } from "../lib/core/clock";
import { parseAmount } from "../lib/core/money";
import { createDatabase } from "../lib/platform/db/client";
import { toSponsorBudgets } from "../lib/books/sponsorship/serializer";
import { createSponsorshipService } from "../lib/books/sponsorship/service";
import { findDatabase } from "./database";
import { runCommand } from "./command";

const COIN_DECIMALS = 18;
const USAGE =
  "npm run sponsor-budget -- <project> [<chain> [--daily <coins|default>] [--operation <coins|default>]]";

/**
 * Parses an option: without it the stored limit stays, `default` removes it (null), and an amount
 * becomes wei.
 */
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
  const file = process.env.CHAINS_FILE ?? "lib/platform/config/chains/local.json";
  const registry = createChainRegistry(
    chainsFile.parse(JSON.parse(readFileSync(file, "utf8"))).chains,
  );
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

await runCommand(main);
