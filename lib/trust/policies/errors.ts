import { DomainError } from "@/lib/core/errors";
import { FINDINGS_MAX, reasonOf, type Screening } from "@/lib/trust/screening/service";
import type { Evaluation } from "./rules";
import type { StoredEvaluation } from "./repository";

/**
 * Rolls back a movement that was evaluated without policies while the project's first policy was
 * stored. `checking` then evaluates it again.
 */
export class PoliciesChangedError extends Error {}

/**
 * The error for a movement that people have approved. The movement can be accepted once prices are
 * readable again.
 */
export const pricesUnknown = (): DomainError =>
  new DomainError(
    "provider_error",
    "A policy has a limit in US dollars, and no price can be read now. Nothing was sent; the money is where it was. It is tried again until its time is over.",
  );

/**
 * A movement that the policies refuse. The error carries the evaluation, which is stored after the
 * caller's transaction was rolled back.
 */
export class PolicyViolationError extends DomainError {
  readonly evaluation: StoredEvaluation;
  /** The votes that would allow the movement; null when no votes would. */
  readonly approval: Evaluation["approval"];

  constructor(
    evaluation: StoredEvaluation,
    { decision, rules, approval }: Pick<Evaluation, "decision" | "rules" | "approval">,
  ) {
    const refusing = rules.filter(({ outcome }) => outcome === decision);
    const [first] = refusing;
    const why =
      first === undefined
        ? "A policy refuses this."
        : `${first.message} (rule ${first.rule}, ${first.scope} policy).`;
    const how =
      decision === "needs_approval"
        ? " They have not approved it. Start it again to ask for their votes; wallets that sign for themselves cannot wait for votes."
        : "";
    super("policy_violation", `${why}${how} Nothing was sent; the money is where it was.`, {
      details: refusing.map((result) => ({
        path: result.field,
        message: result.message,
        code: result.rule,
      })),
      extra: { evaluationId: evaluation.id },
    });
    this.evaluation = evaluation;
    this.approval = approval;
  }
}

/**
 * A movement that screening refuses. The error carries the evaluation, which is stored after the
 * caller's transaction was rolled back.
 */
export class ScreeningRefusedError extends DomainError {
  constructor(
    readonly screening: Screening,
    readonly evaluation: StoredEvaluation,
    pathsOf: (address: string) => readonly string[],
  ) {
    const [first] = screening.stopped;
    const why =
      first === undefined
        ? "Screening refuses this."
        : `The address ${first.address} ${reasonOf(first.verdict)}.`;
    super("screening_refused", `${why} Nothing was sent; the money is where it was.`, {
      details: screening.stopped.slice(0, FINDINGS_MAX).flatMap(({ address, verdict }) =>
        pathsOf(address).map((path) => ({
          path,
          message: `${address} ${reasonOf(verdict)}`,
          code: verdict.state,
        })),
      ),
      extra: { evaluationId: evaluation.id },
    });
  }
}

export const needsVotes = (error: unknown): boolean =>
  error instanceof PolicyViolationError && error.approval !== null;
