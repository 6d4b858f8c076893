import { fingerprintOf } from "@/lib/books/balances/fingerprint";
import type { UnifiedBalances } from "@/lib/books/balances/service";
import { createChangesRepository } from "@/lib/news/feed/repository";
import { createChangesService } from "@/lib/news/feed/service";
import type { Platform } from "./platform";

/**
 * Builds the change streams. A stream names the changed records of a project without their
 * contents, so that the client reads them again.
 */
export const buildChanges = (
  { database, listener, ticker, clock }: Platform,
  balances: { unified(projectId: string): Promise<UnifiedBalances> },
) =>
  createChangesService({
    ...{ listener, ticker, clock },
    repository: createChangesRepository(database),
    readBalances: async (projectId) => fingerprintOf(await balances.unified(projectId)),
  });
