import { startAnvil } from "../anvil-process";
import type { ChainJournal } from "./chain-journal";
import { createNodeClient } from "./node-client";

interface NoJournalOptions {
  readonly chainId: number;
  /** File for anvil's output. */
  readonly logFile: string;
}

/**
 * Stands in for the journal of a chain that ends with its process. Such a chain is not restored
 * when its node ends.
 */
export const createNoJournal = (options: NoJournalOptions): ChainJournal => {
  let isStarted = false;
  return {
    append: () => undefined,
    restore: async () => {
      if (isStarted)
        throw new Error("Its node ended, and a chain without a journal cannot be restored.");
      isStarted = true;
      const anvil = await startAnvil({ ...options, port: 0 });
      return {
        anvil,
        node: createNodeClient(anvil.port),
        clockOffset: 0,
        steps: 0,
        lastOutcomes: [],
      };
    },
    tend: () => Promise.resolve(),
    dump: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
};
