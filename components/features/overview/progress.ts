import type { Operation } from "./use-operations";

type LegState = Operation["legs"][number]["state"];

/** How far a leg is, in per cent of its steps; the time that each step takes differs from chain to chain. */
const PERCENT_OF: Readonly<Record<LegState, number>> = {
  queued: 5,
  submitted: 20,
  source_seen: 40,
  bridging: 60,
  filled_seen: 85,
  refunding: 60,
  refund_seen: 85,
  needs_attention: 60,
  completed: 100,
  failed: 100,
  refunded: 100,
};

/** How far the operation is, 0 to 100. */
export const percentOf = ({ legs }: Pick<Operation, "legs">): number => {
  if (legs.length === 0) return 0;
  const sum = legs.reduce((percent, leg) => percent + PERCENT_OF[leg.state], 0);
  return Math.floor(sum / legs.length);
};

const LATE: ReadonlySet<LegState> = new Set(["refunding", "refund_seen", "needs_attention"]);

/** Whether it does not go as planned. */
export const isLate = ({ legs, subStatus }: Pick<Operation, "legs" | "subStatus">): boolean =>
  subStatus === "delayed" || legs.some(({ state }) => LATE.has(state));
