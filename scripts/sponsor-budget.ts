import { readFileSync } from "node:fs";
import { createChainRegistry } from "../lib/chain/registry";
import { chainsFile } from "../lib/platform/config/chains";
import { DEFAULT_CHAINS_FILE } from "../lib/platform/config/env";
import { systemClock } from "../lib/core/clock";
import { parseAmount } from "../lib/core/money";
import { createDatabase } from "../lib/platform/db/client";
import { toSponsorBudgets } from "../lib/books/sponsorship/serializer";
import { createSponsorshipService } from "../lib/books/sponsorship/service";
import { defineCommand, NEEDS, UsageError } from "./command";
import { findDatabase } from "./database";

const COIN_DECIMALS = 18;

/**
 * Parses an option: without it the stored limit stays, `default` removes it (null), and an amount
 * becomes wei.
 */
const weiOf = (option: string | undefined, kept: bigint | null): bigint | null => {
  if (option === undefined) return kept;
  if (option === "default") return null;
  return /^0(\.0*)?$/.test(option) ? 0n : parseAmount(option, COIN_DECIMALS, "the limit");
};

export const command = defineCommand({
  positionals: { text: "PROJECT [CHAIN_ID]", min: 1, max: 2 },
  options: {
    daily: {
      type: "string",
      value: "COINS",
      about: "the limit of a day, in the chain's coin; `default` restores that of CHAINS_FILE",
    },
    operation: {
      type: "string",
      value: "COINS",
      about: "the limit of an operation, in the same form",
    },
  },
  environment: [NEEDS.database, "CHAINS_FILE: the chains and their default limits"],
  run: async ({ positionals: [projectId = "", chain], values, output }) => {
    const { daily, operation } = values;
    if (chain === undefined && (daily !== undefined || operation !== undefined))
      throw new UsageError("Name the chain of the limits.");
    const file = process.env.CHAINS_FILE || DEFAULT_CHAINS_FILE;
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
          dailyWei: weiOf(daily, own?.dailyWei ?? null),
          operationWei: weiOf(operation, own?.operationWei ?? null),
        };
        const isThere = await sponsorship.setBudget({ projectId, chainId }, budget);
        if (!isThere) throw new Error(`There is no project ${projectId}.`);
      }
      const budgets = toSponsorBudgets(await sponsorship.budgets(projectId));
      output.table(budgets);
      return { isDone: true, result: { budgets } };
    } finally {
      await database.close();
      await source.stop();
    }
  },
});
