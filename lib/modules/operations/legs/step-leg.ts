import type { DomainError } from "@/lib/core/errors";
import { isDomainError } from "@/lib/core/errors";
import type { LegState } from "@/lib/modules/operations/summary";
import { bridging, filledSeen, refunding, refundSeen } from "./bridge";
import { queued } from "./queued";
import { sourceSeen } from "./source";
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
  completed: done,
  failed: done,
  refunded: done,
};

/**
 * Carries one leg one step further. Every step reads what is so, decides, and writes by compare-and-set; any of them may be
 * repeated, by any instance, after any crash.
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

/** An error of a step that is worth trying again; everything else is a bug and is logged as one. */
export const isTemporary = (error: unknown): error is DomainError =>
  isDomainError(error) && (error.code === "chain_unavailable" || error.code === "provider_error");
