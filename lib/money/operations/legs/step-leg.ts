import type { LegState } from "@/lib/money/operations/summary";
import { bridging, filledSeen, refunding, refundSeen, sourceSeen } from "./source";
import { queued } from "./queued";
import type { Step, StepDeps, StepInput, StepResult } from "./step";
import { submitted } from "./submitted";

const done = (): Promise<StepResult> => Promise.resolve("waits");

const STEPS: Record<LegState, (step: Step) => Promise<StepResult>> = {
  queued,
  submitted,
  source_seen: sourceSeen,
  bridging,
  filled_seen: filledSeen,
  refunding,
  refund_seen: refundSeen,
  // The search for the refund continues, because the chains may still prove the refund.
  needs_attention: refunding,
  completed: done,
  failed: done,
  refunded: done,
};

/**
 * Moves one leg forward by one step. Each step reads the current state, decides, and writes by
 * compare-and-set, so any instance can repeat the step after a crash.
 */
export const stepLeg = (deps: StepDeps, input: StepInput): Promise<StepResult> => {
  const step: Step = {
    ...deps,
    ...input,
    request: input.operation.request,
    routeLeg: input.leg.routeLeg,
  };
  return STEPS[input.leg.state](step);
};
