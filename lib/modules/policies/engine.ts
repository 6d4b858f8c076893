import type { Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { sqlOf, type Sql, type SqlReader } from "@/lib/db/sql";
import type { Secrets } from "@/lib/modules/encryption/service";
import type { ApprovalPort } from "./approval-port";
import { PolicyViolationError } from "./errors";
import { applies, evaluate, type Evaluation } from "./evaluate";
import type { EffectivePolicy, Facts, RequiredApproval } from "./facts";
import { comparesUsd, looksAtRecipients, movementsWith, usageAdded, type Intent, type Outflow } from "./intent";
import {
  addUsage,
  findEvaluation,
  insertEvaluation,
  readPolicies,
  readRecipients,
  readUsage,
  type StoredEvaluation,
} from "./repository";
import { isSealed, sealOf } from "./seal";
import { fromAtto } from "./sums";
import { suffices } from "./votes";

export { keysAmong, routeIntent, type Intent, type Outflow } from "./intent";
export type { Evaluation } from "./evaluate";

/** What an evaluation is about, once it has an id. */
export interface Subject {
  readonly type: "operation" | "payout";
  readonly id: string;
  /** SHA-256 of what may move, which the signer computes again from what it is asked to sign. */
  readonly digest: Uint8Array;
}

/** How the caller has proved itself. */
export interface Admission {
  /** A one-time code has approved it. */
  readonly hasCode: boolean;
  /** The request on which people have voted about it. */
  readonly decisionId?: string | undefined;
  /** Wallets have sent it by themselves already: it is recorded, because a refusal would only lose track of the money. */
  readonly isSent?: boolean;
}

/** Decides on one movement in the transaction that accepts it. */
export interface Check {
  /**
   * Evaluates the newest policies, counts the amounts in the daily caps and stores the evaluation.
   * @param sql must be inside the transaction that accepts the movement
   * @returns the evaluation's id; null when a code is needed that `admission` does not have, and then nothing is counted
   * @throws PolicyViolationError
   */
  enforce(sql: Sql, subject: Subject, admission: Admission): Promise<string | null>;
}

export interface PolicyEngine {
  /**
   * Evaluates without counting or storing anything.
   * @param draft takes the place of the newest version of its policy
   */
  dryRun(intent: Intent, draft?: EffectivePolicy): Promise<Evaluation>;
  /**
   * Refuses what the policies deny now, before anything is priced or sent; stores the evaluation of what it refuses. What needs votes is
   * refused only where it cannot wait for them.
   * @throws PolicyViolationError
   */
  refuse(intent: Intent, how?: { readonly canWait: boolean }): Promise<Evaluation>;
  /**
   * Runs `work` with the check of a movement. Prices are read before; where the check denies, its evaluation is stored after the
   * transaction of `work` was rolled back.
   */
  checking<T>(intent: Intent, work: (check: Check) => Promise<T>): Promise<T>;
  /** Whether this service has made this evaluation, which allowed this subject and was made of the same parameters. */
  isAllowed(projectId: string, evaluationId: string | null, subject: Omit<Subject, "type">): Promise<boolean>;
}

export interface EngineDeps {
  readonly database: Database;
  /** Prices in US dollars, in the order asked; the highest where sources differ. */
  readonly prices: {
    highestPriceUsd(tokens: readonly Outflow["token"][], signal: AbortSignal): Promise<readonly (string | null)[]>;
  };
  readonly approvals: ApprovalPort;
  readonly secrets: Pick<Secrets, "hash" | "matches">;
  readonly clock: Clock;
}

const PRICE_TIMEOUT_MS = 5000;

type Prices = readonly (string | null)[];

const walletIdsOf = ({ outflows }: Intent): string[] => [
  ...new Set(outflows.flatMap(({ walletId }) => walletId ?? [])),
];

const policiesOf = (sql: SqlReader, intent: Intent) =>
  readPolicies(sql, { projectId: intent.projectId, keyIds: intent.keyIds, walletIds: walletIdsOf(intent) });

const pricesOf = async (deps: EngineDeps, intent: Intent, policies: readonly EffectivePolicy[]): Promise<Prices> => {
  if (!comparesUsd(policies)) return [];
  const tokens = intent.outflows.map(({ token }) => token);
  return deps.prices.highestPriceUsd(tokens, AbortSignal.timeout(PRICE_TIMEOUT_MS)).catch(() => []);
};

interface Decided {
  readonly facts: Facts;
  readonly policies: readonly EffectivePolicy[];
  readonly evaluation: Evaluation;
  /** The request whose votes allowed it. */
  readonly decisionId?: string | undefined;
}

/** @param locks whether the rows of the day's usage stay locked until the transaction ends */
const decide = async (
  sql: SqlReader,
  intent: Intent,
  { prices, now, locks, found }: { prices: Prices; now: Date; locks: boolean; found: readonly EffectivePolicy[] },
): Promise<Decided> => {
  const { projectId, keyIds, chains, fields } = intent;
  const movements = movementsWith(intent.outflows, prices);
  const policies = found.filter((policy) => applies(policy, { projectId, keyIds, movements }));
  const day = now.toISOString().slice(0, 10);
  const usage = await readUsage(sql, { projectId, day, locks }, usageAdded(policies, { movements }));
  const addresses = looksAtRecipients(policies) ? [...new Set(intent.recipients)] : [];
  const recipients = await readRecipients(sql, projectId, addresses);
  const facts: Facts = { at: now, projectId, keyIds, movements, chains, recipients, usage, fields };
  return { facts, policies, evaluation: evaluate(policies, facts) };
};

const isOfSame = (one: EffectivePolicy, other: EffectivePolicy): boolean =>
  one.scope === other.scope && one.subjectId === other.subjectId;

const RECIPIENTS_MAX = 20;

/** What is kept of the facts. The recipients of a large payout are bound by the digest, and only the first of them are named here. */
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

const rowOf = (
  { secrets }: Pick<EngineDeps, "secrets">,
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
    policies: policies.map(({ id, scope, subjectId, version }) => ({ id, scope, subjectId, version })),
    rules: evaluation.rules,
    code: evaluation.code,
    createdBy: intent.by,
    createdAt: facts.at,
  };
};

/** Whether people have voted on this subject as the policies demand now. */
const hasVotes = async (
  { approvals }: EngineDeps,
  sql: SqlReader,
  { projectId, subject, decisionId }: { projectId: string; subject: Subject; decisionId: string | undefined },
  demanded: RequiredApproval | null,
): Promise<boolean> => {
  if (decisionId === undefined || demanded === null) return false;
  const given = await approvals.approvedBy(sql, { projectId, decisionId, subject });
  return given !== null && suffices(given, demanded);
};

/** @throws PolicyViolationError */
const requireAllowed = async (
  deps: EngineDeps,
  intent: Intent,
  decided: Decided,
  { sql, subject, decisionId }: { sql: SqlReader; subject: Subject; decisionId: string | undefined },
): Promise<Decided> => {
  const { evaluation } = decided;
  if (evaluation.decision === "allow") return decided;
  const about = { projectId: intent.projectId, subject, decisionId };
  if (evaluation.decision === "needs_approval" && (await hasVotes(deps, sql, about, evaluation.approval)))
    return { ...decided, decisionId, evaluation: { ...evaluation, decision: "allow" } };
  throw new PolicyViolationError(rowOf(deps, intent, decided, subject), evaluation);
};

const enforce = async (
  deps: EngineDeps,
  { intent, prices }: { intent: Intent; prices: Prices },
  sql: Sql,
  { subject, admission }: { subject: Subject; admission: Admission },
): Promise<string | null> => {
  const now = deps.clock.now();
  const found = await policiesOf(sql, intent);
  const first = await decide(sql, intent, { prices, now, locks: true, found });
  const { hasCode, decisionId, isSent = false } = admission;
  const decided = isSent
    ? { ...first, evaluation: { ...first.evaluation, decision: "allow" as const } }
    : await requireAllowed(deps, intent, first, { sql, subject, decisionId });
  if (decided.evaluation.code === "required" && !hasCode && !isSent) return null;
  const { projectId } = intent;
  const added = usageAdded(decided.policies, decided.facts)
    .filter(({ unit, adds }) => adds > 0n && !(hasCode && unit === "usd_without_code"))
    .map(({ adds, ...key }) => ({ ...key, amount: fromAtto(adds) }));
  await addUsage(sql, { projectId, day: now.toISOString().slice(0, 10) }, added);
  const row = rowOf(deps, intent, decided, subject);
  await insertEvaluation(sql, row, intent.recipients);
  return row.id;
};

/**
 * Applies the project's policies to movements: `checking` where money is accepted, `refuse` and `dryRun` before, and `isAllowed` where the
 * signer is called.
 */
export const createPolicyEngine = (deps: EngineDeps): PolicyEngine => {
  const reader = sqlOf(deps.database.prisma);

  const decideNow = async (intent: Intent, draft?: EffectivePolicy): Promise<Decided> => {
    const stored = await policiesOf(reader, intent);
    const found = draft === undefined ? stored : [...stored.filter((policy) => !isOfSame(policy, draft)), draft];
    const prices = await pricesOf(deps, intent, found);
    return decide(reader, intent, { prices, now: deps.clock.now(), locks: false, found });
  };

  return {
    dryRun: async (intent, draft) => (await decideNow(intent, draft)).evaluation,

    refuse: async (intent, { canWait } = { canWait: true }) => {
      const decided = await decideNow(intent);
      const { evaluation } = decided;
      if (evaluation.decision === "allow") return evaluation;
      if (evaluation.decision === "needs_approval" && canWait) return evaluation;
      const row = rowOf(deps, intent, decided, null);
      await insertEvaluation(reader, row, []);
      throw new PolicyViolationError(row, evaluation);
    },

    checking: async (intent, work) => {
      const prices = await pricesOf(deps, intent, await policiesOf(reader, intent));
      const check: Check = {
        enforce: (sql, subject, admission) => enforce(deps, { intent, prices }, sql, { subject, admission }),
      };
      try {
        return await work(check);
      } catch (error) {
        if (error instanceof PolicyViolationError) await insertEvaluation(reader, error.evaluation, []);
        throw error;
      }
    },

    isAllowed: async (projectId, evaluationId, subject) => {
      if (evaluationId === null) return false;
      const found = await findEvaluation(deps.database, { projectId, id: evaluationId });
      if (found === null || found.subjectId !== subject.id || found.decision !== "allow") return false;
      return Buffer.from(found.digest).equals(subject.digest) && isSealed(deps.secrets, found);
    },
  };
};
