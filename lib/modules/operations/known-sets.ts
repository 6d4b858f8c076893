import { LRUCache } from "lru-cache";
import { isFinal } from "@/lib/core/status";
import type { Leg } from "./leg";
import type { Operation } from "./operation";
import { isPrivateKind } from "./private-kinds";
import type { Taken } from "./step-repository";
import type { LegSnapshot, OperationRow, WorkingSet } from "./working-set-repository";

const OPERATIONS_MAX = 5000;
const KEPT_MS = 60_000;

type Known = Pick<WorkingSet, "row" | "legs">;

const snapshotOf = ({ sponsorReservedWei, ...leg }: Leg): LegSnapshot => {
  const { id, operationId, sourceChainId, state, version, failure, receivedBase } = leg;
  const reservedWei = sponsorReservedWei?.toString() ?? null;
  return { id, operationId, sourceChainId, state, version, failure, receivedBase, reservedWei };
};

/** The row of an operation that was stored just now. Null for a private one, whose transfer is stored by another module. */
const firstRow = (operation: Operation, transferId: string | null): OperationRow | null => {
  const { id, projectId, kind, status, subStatus, failure, retryOf, minimumBase } = operation;
  if (isPrivateKind(kind)) return null;
  const state = { status, subStatus, failure, version: 0 };
  return { id, projectId, kind, retryOf, minimumBase, quotedId: transferId, privateId: null, ...state };
};

/**
 * Operations as this instance stored them last, so that their next steps need not read them. Nothing rests on them: the statement that
 * stores a step compares them with what is stored.
 */
export const createKnownSets = () => {
  const known = new LRUCache<string, Known>({ max: OPERATIONS_MAX, ttl: KEPT_MS });

  const keep = (workingSets: Iterable<WorkingSet>, written: ReadonlyMap<string, Leg>): void => {
    for (const { row, legs, changes } of workingSets) {
      if (isFinal(row.status)) known.delete(row.id);
      else {
        const next = legs.map((leg) => ({ ...leg, version: written.get(leg.id)?.version ?? leg.version }));
        known.set(row.id, { row: { ...row, version: row.version + changes }, legs: next });
      }
    }
  };

  return {
    /** @param operation that was accepted just now, with the quoted transfer that it carries out, if any */
    keepAccepted: (operation: Operation, transferId: string | null): void => {
      const row = firstRow(operation, transferId);
      if (row !== null) known.set(row.id, { row, legs: operation.legs.map(snapshotOf) });
    },

    keepTaken: ({ workingSets, stepped }: Taken): void => {
      const legs = stepped.flatMap((one): [string, Leg][] => (one?.leg ? [[one.leg.id, one.leg]] : []));
      keep(workingSets.values(), new Map(legs));
    },

    /** After a write to the leg alone. */
    keepLeg: (leg: Leg): void => {
      const set = known.get(leg.operationId);
      if (set === undefined) return;
      known.set(leg.operationId, { ...set, legs: set.legs.map((one) => (one.id === leg.id ? snapshotOf(leg) : one)) });
    },

    forget: (operationIds: readonly string[]): void => {
      for (const id of operationIds) known.delete(id);
    },

    /** A working set, which steps may change, where the operation is known. */
    get: (operationId: string): WorkingSet | null => {
      const set = known.get(operationId);
      if (set === undefined) return null;
      const legs = set.legs.map((leg) => ({ ...leg }));
      return { row: { ...set.row }, legs, events: [], projectEvents: [], changes: 0, changedAt: null };
    },
  };
};

export type KnownSets = ReturnType<typeof createKnownSets>;
