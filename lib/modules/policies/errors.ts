import { DomainError } from "@/lib/core/errors";
import type { Evaluation } from "./evaluate";
import type { StoredEvaluation } from "./repository";

/** A movement that the policies refuse. It carries the evaluation, which is stored once the caller's transaction was rolled back. */
export class PolicyViolationError extends DomainError {
  readonly evaluation: StoredEvaluation;

  constructor(evaluation: StoredEvaluation, { decision, rules }: Pick<Evaluation, "decision" | "rules">) {
    const refusing = rules.filter(({ outcome }) => outcome === decision);
    const [first] = refusing;
    const why =
      first === undefined ? "A policy refuses this." : `${first.message} (rule ${first.rule}, ${first.scope} policy).`;
    const how = decision === "needs_approval" ? " Approvals by other people cannot be collected here yet." : "";
    super("policy_violation", `${why}${how} Nothing was sent; the money is where it was.`, {
      details: refusing.map((result) => ({
        path: result.field,
        message: result.message,
        code: result.rule,
      })),
      extra: { evaluationId: evaluation.id },
    });
    this.evaluation = evaluation;
  }
}
