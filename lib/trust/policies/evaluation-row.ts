/**
 * Builds the row of an evaluation. Its facts contain only the first recipients of a large payout,
 * but its digest covers all of them.
 */
import { newId } from "@/lib/core/ids";
import type { Secrets } from "@/lib/platform/encryption/service";
import type { Subject } from "./check";
import type { Evaluation } from "./rules";
import type { EffectivePolicy, Facts } from "./facts";
import type { Intent } from "./intent";
import type { StoredEvaluation } from "./repository";
import { sealOf } from "./seal";

export interface Decided {
  readonly facts: Facts;
  readonly policies: readonly EffectivePolicy[];
  readonly evaluation: Evaluation;
  /** The request whose votes allowed the movement. */
  readonly decisionId?: string | undefined;
}

const RECIPIENTS_MAX = 20;

const factsKept = (intent: Intent, { at, movements, chains, usage }: Facts): object => ({
  at: at.toISOString(),
  kind: intent.kind,
  keyIds: intent.keyIds,
  movements,
  chains,
  recipients: intent.recipients.slice(0, RECIPIENTS_MAX),
  recipientCount: intent.recipients.length,
  usage,
});

/**
 * The row that stores an evaluation, with its digest and MAC.
 * @param subject null when nothing of the movement is stored
 */
export const rowOf = (
  { secrets }: { readonly secrets: Pick<Secrets, "hash"> },
  intent: Intent,
  decided: Decided,
  subject: Subject | null,
): StoredEvaluation => {
  const { facts, policies, evaluation, decisionId } = decided;
  const sealed = {
    id: newId("evaluation"),
    projectId: intent.projectId,
    subjectType: subject?.type ?? ("request" as const),
    subjectId: subject?.id ?? null,
    digest: subject?.digest ?? new Uint8Array(),
    decision: evaluation.decision,
  };
  return {
    ...sealed,
    mac: sealOf(secrets, sealed),
    facts: { ...factsKept(intent, facts), ...(decisionId === undefined ? {} : { decisionId }) },
    policies: policies.map(({ id, scope, subjectId, version }) => ({
      id,
      scope,
      subjectId,
      version,
    })),
    rules: evaluation.rules,
    code: evaluation.code,
    createdBy: intent.by,
    createdAt: facts.at,
  };
};
