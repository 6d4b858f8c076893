import { LRUCache } from "lru-cache";
import { createBatcher } from "@/lib/core/batch";
import type { Database } from "@/lib/platform/db/client";
import { keptSqlOn } from "@/lib/platform/db/sql";
import type { Handover } from "@/lib/platform/jobs/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import { createAccepting } from "./accept-repository";
import { type Operation, parseOperation } from "./operation";
import { findOperations } from "./row-repository";
import { lockOperation, type OperationKey, settleOperation } from "./state-repository";

const READS_MAX = 100;
const ACCEPTED_MAX = 1000;
const ACCEPTED_MS = 5000;

export const includeOf = (projectId: string) =>
  ({ legs: { where: { projectId }, orderBy: { position: "asc" } } }) as const;

export const createOperationsRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "reserve">,
  handover?: Pick<Handover, "take">,
) => {
  const reads = createBatcher({
    run: async (ids: readonly string[]) => {
      const found = await findOperations(keptSqlOn(database.pool), ids);
      return ids.map((id) => {
        const operation = found.get(id) ?? null;
        return operation instanceof Error ? operation : { operation };
      });
    },
    batchWeightMax: READS_MAX,
    lanes: 2,
  });
  const find = async (id: string): Promise<Operation | null> =>
    (await reads.submit(id)).operation;

  const accepted = new LRUCache<string, Operation>({ max: ACCEPTED_MAX, ttl: ACCEPTED_MS });

  return {
    /** Caches an operation that this instance has just accepted, for the first `findToDrive`. */
    keepAccepted: (operation: Operation): void => {
      accepted.set(operation.id, operation);
    },

    /**
     * Like `find`, but the first call after this instance accepted the operation returns the
     * cached operation. Another instance may have changed the operation since; each write of a leg
     * detects such a change.
     */
    findToDrive: async (id: string): Promise<Operation | null> => {
      const known = accepted.get(id);
      accepted.delete(id);
      return known ?? find(id);
    },

    /**
     * Reads an operation for its driver. Concurrent calls share one statement.
     * @throws ZodError when a stored column does not have the expected shape
     */
    find,

    findInProject: async (projectId: string, id: string): Promise<Operation | null> => {
      const row = await database.prisma.operation.findFirst({
        where: { id, projectId },
        include: includeOf(projectId),
      });
      return row === null ? null : parseOperation(row);
    },

    ...createAccepting(database, sponsorship, handover),

    /** Marks an operation as delayed, unless it is marked already. */
    markDelayed: (of: OperationKey, now: Date): Promise<void> =>
      database.transaction(async (tx) => {
        const operation = await lockOperation(tx, of);
        if (operation.status === "processing" && operation.subStatus !== "delayed")
          await settleOperation(tx, operation, now, true);
      }),
  };
};

export type OperationsRepository = ReturnType<typeof createOperationsRepository>;
