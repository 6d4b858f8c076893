import { fingerprintOf } from "@/lib/books/balances/fingerprint";
import type { UnifiedBalances } from "@/lib/books/balances/service";
import { createChangesRepository } from "@/lib/news/feed/repository";
import { createChangesService } from "@/lib/news/feed/service";
import type { Platform } from "./platform";

/** Streams of hints about what changes in a project. */
export const buildChanges = (
  { database, listener, ticker, clock }: Platform,
  balances: { unified(projectId: string): Promise<UnifiedBalances> },
) =>
  createChangesService({
    ...{ listener, ticker, clock },
    repository: createChangesRepository(database),
    readBalances: async (projectId) => fingerprintOf(await balances.unified(projectId)),
  });
