/** How far a leg of an operation is drawn: by confirmations where a chain counts them, else by the expected time. */
import type { Leg } from "@/components/features/operations/types";
import { TURN_AT } from "./layout";
import type { FlowLeg } from "./types";

export type LegProgress = Pick<FlowLeg, "look" | "fill" | "back" | "coin">;

/** Shares of the way at which the stages begin. */
const SENT = 0.06;
const SEEN = 0.12;
const CROSSING = 0.36;
const FILLED = 0.8;
/** A leg is drawn as late once it takes this many times its expected time. */
const LATE_FACTOR = 3;
const LATE_MIN_S = 10;

interface Depth {
  readonly confirmations: number;
  readonly confirmationsNeeded: number;
}

const depthShare = ({ confirmations, confirmationsNeeded }: Depth): number =>
  confirmationsNeeded <= 0 ? 1 : Math.min(1, confirmations / confirmationsNeeded);

const between = (from: number, to: number, share: number): number => from + (to - from) * share;

export interface ProgressTimes {
  readonly nowMs: number;
  /** When the leg began to move; null where that is not known. */
  readonly startedMs: number | null;
  /** The service says that the operation takes longer than usual. */
  readonly delayed: boolean;
}

const elapsedS = ({ nowMs, startedMs }: ProgressTimes): number =>
  startedMs === null ? 0 : Math.max(0, (nowMs - startedMs) / 1000);

const timeShare = (leg: Leg, times: ProgressTimes): number =>
  Math.min(1, elapsedS(times) / Math.max(1, leg.route.estimatedSeconds));

const isLate = (leg: Leg, times: ProgressTimes): boolean =>
  times.delayed || elapsedS(times) > Math.max(LATE_MIN_S, leg.route.estimatedSeconds * LATE_FACTOR);

const forward = (leg: Leg, times: ProgressTimes): number => {
  switch (leg.state) {
    case "submitted":
      return SENT;
    case "source_seen":
      return between(SEEN, leg.kind === "bridge" ? CROSSING : 1, depthShare(leg));
    case "bridging":
      return between(CROSSING, FILLED, timeShare(leg, times));
    case "filled_seen":
      return between(FILLED, 1, leg.destination === null ? 0 : depthShare(leg.destination));
    case "queued":
    case "completed":
    case "failed":
    case "refunding":
    case "refund_seen":
    case "refunded":
    case "needs_attention":
      return 0;
  }
};

/** How one leg is drawn now. */
export const legProgress = (leg: Leg, times: ProgressTimes): LegProgress => {
  switch (leg.state) {
    case "completed":
      return { look: "done", fill: 1, back: 0, coin: null };
    case "failed":
      return { look: "failed", fill: leg.txHash === null ? 0 : SEEN, back: 0, coin: null };
    case "refunding":
    case "needs_attention":
      return { look: "returning", fill: TURN_AT, back: 0.15, coin: "back" };
    case "refund_seen":
      return {
        look: "returning",
        fill: TURN_AT,
        back: between(0.3, 1, leg.refund === null ? 0 : depthShare(leg.refund)),
        coin: "back",
      };
    case "refunded":
      return { look: "returned", fill: TURN_AT, back: 1, coin: null };
    case "queued":
      return { look: "planned", fill: 0, back: 0, coin: null };
    case "submitted":
    case "source_seen":
    case "bridging":
    case "filled_seen":
      return { look: isLate(leg, times) ? "late" : "moving", fill: forward(leg, times), back: 0, coin: "way" };
  }
};

/** Seconds until the slowest open leg is expected to arrive; null where nothing is under way or it takes longer than expected. */
export const secondsLeft = (legs: readonly Leg[], times: (leg: Leg) => ProgressTimes): number | null => {
  const open = legs.filter((leg) => legProgress(leg, times(leg)).look === "moving");
  if (open.length === 0) return null;
  const left = Math.max(...open.map((leg) => leg.route.estimatedSeconds - elapsedS(times(leg))));
  return left < 1 ? null : Math.round(left);
};
