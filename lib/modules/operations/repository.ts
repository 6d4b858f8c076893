import { LRUCache } from "lru-cache";
import { createBatcher } from "@/lib/core/batch";
import type { Database } from "@/lib/db/client";
import { keptSqlOn } from "@/lib/db/sql";
import type { Handover } from "@/lib/modules/jobs/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { createAccepting } from "./accept-repository";
import { createKnownSets, type KnownSets } from "./known-sets";
import type { Operation } from "./operation";
import { findOperations } from "./row-repository";
import { readAsMuchAsPossible, readOperation } from "./readable";
import { lockOperation, settleOperation, type OperationKey } from "./state-repository";

/** Maximum number of operations that one statement reads. */
const READS_MAX = 100;
const ACCEPTED_MAX = 1000;
const ACCEPTED_MS = 5000;

/** The legs of operations of a project. */
export const includeOf = (projectId: string) =>
  ({ legs: { where: { projectId }, orderBy: { position: "asc" } } }) as const;

export const createOperationsRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "reserve" | "reservationParts">,
  {
    known = createKnownSets(),
    handover,
  }: { readonly known?: Pick<KnownSets, "keepAccepted">; readonly handover?: Pick<Handover, "take"> } = {},
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
  const find = async (id: string): Promise<Operation | null> => (await reads.submit(id)).operation;

  const accepted = new LRUCache<string, Operation>({ max: ACCEPTED_MAX, ttl: ACCEPTED_MS });

  return {
    /**
     * Keeps an operation that this instance has just accepted for its first `findToDrive` and its first step.
     * @param transferId of the quoted transfer that it carries out, if any
     */
    keepAccepted: (operation: Operation, transferId: string | null): void => {
      accepted.set(operation.id, operation);
      known.keepAccepted(operation, transferId);
    },

    /**
     * As `find`; the first time as this instance has accepted it, if that was just now. Another instance may have carried it on since then, which
     * each write of a leg notices.
     */
    findToDrive: async (id: string): Promise<Operation | null> => {
      const known = accepted.get(id);
      accepted.delete(id);
      return known ?? find(id);
    },

    /**
     * To carry it on. Operations that are asked for at the same time are read in one statement.
     * @throws ZodError when a stored column does not have the shape that this version writes
     */
    find,

    /** To show it; a leg that cannot be read hides nothing else. */
    findInProject: async (projectId: string, id: string): Promise<Operation | null> => {
      const row = await database.prisma.operation.findFirst({
        where: { id, projectId },
        include: includeOf(projectId),
      });
      return row === null ? null : readOperation(row);
    },

    /** As `findInProject`, for its page alone: also an operation whose own columns cannot be read. */
    findToShow: async (projectId: string, id: string): Promise<Operation | null> => {
      const row = await database.prisma.operation.findFirst({
        where: { id, projectId },
        include: includeOf(projectId),
      });
      return row === null ? null : readAsMuchAsPossible(row);
    },

    ...createAccepting(database, sponsorship, handover),

    /** Notes that an operation takes far longer than was estimated, once. */
    markDelayed: (of: OperationKey, now: Date): Promise<void> =>
      database.transaction(async (tx) => {
        const operation = await lockOperation(tx, of);
        if (operation.status === "processing" && operation.subStatus !== "delayed")
          await settleOperation(tx, operation, now, true);
      }),
  };
};

export type OperationsRepository = ReturnType<typeof createOperationsRepository>;
