/** The changes of status of a private operation without legs. operations/status-changes.ts lists them all. */
import type { LeglessMove } from "@/lib/modules/operations/service";
import type { PrivateStep } from "./private-step";

type Move = Pick<LeglessMove, "from" | "to">;

const PREPARED = { status: "pending", subStatus: "prepared" } as const;
const PROVING = { status: "pending", subStatus: "proving" } as const;
const BEGUN = { status: "processing", subStatus: "queued" } as const;
const SUBMITTED = { status: "processing", subStatus: "source_submitted" } as const;

export const MOVES = {
  /** The first proof of the operation is about to begin. */
  prove: { from: [PREPARED], to: PROVING },
  /** None of its notes could be used, so it ends without a proof. */
  begin: { from: [PREPARED, PROVING], to: BEGUN },
  /** A proof was made, and its transaction will be sent. An operation of several steps is there already. */
  submit: { from: [PREPARED, PROVING, SUBMITTED], to: SUBMITTED },
} as const satisfies Record<string, Move>;

/** The last change of an operation whose steps have all ended: only one that submitted a step can have completed one. */
export const endOf = (steps: readonly Pick<PrivateStep, "state">[]): Move => {
  const done = steps.filter(({ state }) => state === "completed").length;
  if (done === 0) return { from: [BEGUN, SUBMITTED], to: { status: "failed", subStatus: "queued" } };
  return done === steps.length
    ? { from: [SUBMITTED], to: { status: "completed", subStatus: "full" } }
    : { from: [SUBMITTED], to: { status: "partially_completed", subStatus: "partial" } };
};
