import { LRUCache } from "lru-cache";
import { keptSqlOn, type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import {
  addUsage,
  findEvaluation,
  hasPolicies,
  insertEvaluation,
  readPolicies,
  readRecipients,
  readUsage,
  type StoredEvaluation,
} from "./repository";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { inOrder } from "@/lib/platform/db/in-order";
import type { Secrets } from "@/lib/platform/encryption/service";
import type { Screened, ScreeningService } from "@/lib/trust/screening/service";
import type { Admission, ApprovalPort, Check, Passed, Subject } from "./check";
import {
  PoliciesChangedError,
  PolicyViolationError,
  pricesUnknown,
  ScreeningRefusedError,
} from "./errors";
import { applies, evaluate, type Evaluation } from "./rules";
import { type Decided, rowOf } from "./evaluation-row";
import {
  type EffectivePolicy,
  type Facts,
  fromAtto,
  policyOfSetting,
  type RequiredApproval,
  suffices,
} from "./facts";
import {
  comparesUsd,
  type Intent,
  looksAtRecipients,
  movementsWith,
  type Outflow,
  usageAdded,
} from "./intent";
import {
  type Departure,
  type Gate,
  NO_SCREENING,
  screenDeparture,
  screenIntent,
  withScreening,
} from "./screened";
import { isSealed } from "./seal";

// Caches which projects have no policy and demand no votes, so that their movements need no further
// statement.

const PROJECTS_MAX = 10_000;
const KEPT_MS = 10_000;

interface WithoutPolicy {
  /**
   * Whether the project had no policy and no votes recently. A caller that moves money because of
   * the answer must check it again where the movement is stored.
   */
  has(projectId: string): Promise<boolean>;
  forget(projectId: string): void;
}

const createWithoutPolicy = (reader: SqlReader): WithoutPolicy => {
  const known = new LRUCache<string, true>({ max: PROJECTS_MAX, ttl: KEPT_MS });
  return {
    has: async (projectId) => {
      if (known.has(projectId)) return true;
      if (await hasPolicies(reader, projectId)) return false;
      known.set(projectId, true);
      return true;
    },
    forget: (projectId) => void known.delete(projectId),
  };
};

export {
  isExemptKey,
  keysAmong,
  partiesOf,
  routeIntent,
  type Intent,
  type Outflow,
} from "./intent";
export type { Evaluation } from "./rules";
export type { Admission, Check, Passed, Subject } from "./check";
export type { Departure } from "./screened";

export interface PolicyEngine {
  /**
   * Evaluates and screens without counting or storing anything.
   * @param draft replaces the newest version of its policy
   */
  dryRun(intent: Intent, draft?: EffectivePolicy): Promise<Evaluation>;
  /**
   * Refuses a movement that the policies deny now, before anything is priced or sent, and stores
   * the evaluation of a refused movement. A movement that needs votes is refused only when it
   * cannot wait for them.
   * @param how `canWait` is false for a movement that cannot wait for votes. `isFirst` is true when
   * the policies are evaluated again before anything is accepted. This check may then miss a policy
   * that another instance stored in the last seconds
   * @throws PolicyViolationError, ScreeningRefusedError
   */
  refuse(
    intent: Intent,
    how?: { readonly canWait?: boolean; readonly isFirst?: boolean },
  ): Promise<Evaluation>;
  /**
   * Runs `work` with the check of a movement. Prices are read before `work` starts. When the check
   * denies the movement, the evaluation is stored after the transaction of `work` was rolled back.
   * When the project's first policy was stored in the meantime, `work` runs once more.
   */
  checking<T>(intent: Intent, work: (check: Check) => Promise<T>): Promise<T>;
  /** Call this after storing a policy, so that the engine forgets that the project had none. */
  policyStored(projectId: string): void;
  /**
   * Screens the addresses of an accepted movement again, before it is signed or sent.
   * @returns the addresses whose verdict stops it
   */
  screenAgain(
    departure: Departure,
    how?: { readonly isRecorded?: boolean },
  ): Promise<readonly Screened[]>;
  /**
   * Whether this service made the evaluation, and the evaluation allowed this movement with the
   * same parameters.
   */
  isAllowed(
    projectId: string,
    evaluationId: string | null,
    subject: Omit<Subject, "type">,
  ): Promise<boolean>;
}

export interface EngineDeps {
  readonly database: Database;
  /** Prices in US dollars, in the order of the tokens; the highest one when sources differ. */
  readonly prices: {
    highestPriceUsd(
      tokens: readonly Outflow["token"][],
      signal: AbortSignal,
    ): Promise<readonly (string | null)[]>;
  };
  readonly approvals: ApprovalPort;
  readonly secrets: Pick<Secrets, "hash" | "matches">;
  readonly clock: Clock;
  /** Nothing is screened when absent. */
  readonly screening?: ScreeningService;
}

const PRICE_TIMEOUT_MS = 5000;
const MADE_MAX = 2000;

/** One price per outflow; null when prices could not be read. */
type Prices = readonly (string | null)[] | null;

const walletIdsOf = ({ outflows }: Intent): string[] => [
  ...new Set(outflows.flatMap(({ walletId }) => walletId ?? [])),
];

/**
 * Every rule that can apply to the movement: the policies, and the project's vote setting as one of
 * them.
 */
const policiesOf = async (
  { approvals }: EngineDeps,
  sql: SqlReader,
  intent: Intent,
): Promise<readonly EffectivePolicy[]> => {
  const { projectId, keyIds, isSelfSigned = false } = intent;
  const stored = await readPolicies(sql, { projectId, keyIds, walletIds: walletIdsOf(intent) });
  const setting = isSelfSigned ? null : await approvals.requirementOf(projectId, sql);
  return setting === null ? stored : [...stored, policyOfSetting(projectId, setting)];
};

const pricesOf = async (
  deps: EngineDeps,
  intent: Intent,
  policies: readonly EffectivePolicy[],
): Promise<Prices> => {
  if (!comparesUsd(policies)) return [];
  const tokens = intent.outflows.map(({ token }) => token);
  return deps.prices
    .highestPriceUsd(tokens, AbortSignal.timeout(PRICE_TIMEOUT_MS))
    .catch(() => null);
};

interface Deciding {
  readonly prices: Prices;
  readonly now: Date;
  readonly locks: boolean;
  readonly found: readonly EffectivePolicy[];
  /**
   * Whether an exempt key moves the money without a code and without votes. Default: the value of
   * the intent. False when a code or votes approve the movement, even if an exempt key requested
   * it.
   */
  readonly byExemptKey?: boolean;
}

const decide = async (
  sql: SqlReader,
  intent: Intent,
  { prices, now, locks, found, byExemptKey = intent.byExemptKey }: Deciding,
): Promise<Decided> => {
  const { projectId, keyIds, chains, fields } = intent;
  const movements = movementsWith(intent.outflows, prices ?? []);
  const policies = found.filter((policy) => applies(policy, { projectId, keyIds, movements }));
  const day = now.toISOString().slice(0, 10);
  const usage = await readUsage(
    sql,
    { projectId, day, locks },
    usageAdded(policies, { movements }),
  );
  const addresses = looksAtRecipients(policies) ? [...new Set(intent.recipients)] : [];
  const recipients = await readRecipients(sql, projectId, {
    addresses,
    chainId: intent.recipientChain,
  });
  const facts: Facts = {
    at: now,
    projectId,
    keyIds,
    byExemptKey,
    movements,
    chains,
    recipients,
    usage,
    fields,
  };
  return { facts, policies, evaluation: evaluate(policies, facts) };
};

const isOfSame = (one: EffectivePolicy, other: EffectivePolicy): boolean =>
  one.id !== null && one.scope === other.scope && one.subjectId === other.subjectId;

/** Whether people have voted on this movement as the policies demand now. */
const hasVotes = async (
  { approvals }: EngineDeps,
  sql: SqlReader,
  {
    projectId,
    subject,
    decisionId,
  }: { projectId: string; subject: Subject; decisionId: string | undefined },
  demanded: RequiredApproval | null,
): Promise<boolean> => {
  if (decisionId === undefined || demanded === null) return false;
  const given = await approvals.approvedBy(sql, { projectId, decisionId, subject });
  return given !== null && suffices(given, demanded);
};

/** Whether the movement is denied only by limits in US dollars, while prices could not be read. */
const lacksPrices = (prices: Prices, { decision, rules }: Evaluation): boolean =>
  prices === null &&
  decision === "deny" &&
  rules.every(
    ({ outcome, rule }) =>
      outcome !== "deny" || rule === "perOperation.usd" || rule === "perDay.usd",
  );

interface Accepting {
  readonly sql: SqlReader;
  readonly subject: Subject;
  readonly decisionId: string | undefined;
  readonly prices: Prices;
}

/**
 * Returns the decision when it allows the movement, or when people have voted as it demands.
 * @throws PolicyViolationError; DomainError `provider_error` while prices cannot be read for a
 * movement on which people have voted
 */
const requireAllowed = async (
  deps: EngineDeps,
  intent: Intent,
  decided: Decided,
  { sql, subject, decisionId, prices }: Accepting,
): Promise<Decided> => {
  const { evaluation } = decided;
  if (evaluation.decision === "allow") return decided;
  const about = { projectId: intent.projectId, subject, decisionId };
  if (
    evaluation.decision === "needs_approval" &&
    (await hasVotes(deps, sql, about, evaluation.approval))
  )
    return { ...decided, decisionId, evaluation: { ...evaluation, decision: "allow" } };
  // People have approved the movement, so it waits for prices instead of ending.
  if (decisionId !== undefined && lacksPrices(prices, evaluation)) throw pricesUnknown();
  throw new PolicyViolationError(rowOf(deps, intent, decided, subject), evaluation);
};

interface Prepared {
  readonly intent: Intent;
  readonly prices: Prices;
  /**
   * True when the project has no policy and demands no votes, unless its first rule is being stored
   * now.
   */
  readonly isFree: boolean;
}

const pass = async (
  deps: EngineDeps & { readonly made: LRUCache<string, StoredEvaluation> },
  { intent, prices, isFree }: Prepared,
  sql: Sql,
  { subject, admission }: { subject: Subject; admission: Admission },
): Promise<Passed | null> => {
  const { projectId } = intent;
  const now = deps.clock.now();
  const found = isFree ? [] : await policiesOf(deps, sql, intent);
  const { hasCode, decisionId, isSent = false } = admission;
  const byExemptKey = intent.byExemptKey && !hasCode && decisionId === undefined;
  const first = await decide(sql, intent, { prices, now, locks: true, found, byExemptKey });
  const decided = isSent
    ? { ...first, evaluation: { ...first.evaluation, decision: "allow" as const } }
    : await requireAllowed(deps, intent, first, { sql, subject, decisionId, prices });
  if (decided.evaluation.code === "required" && !hasCode && !isSent) return null;
  const added = usageAdded(decided.policies, decided.facts)
    .filter(({ unit, adds }) => adds > 0n && !(hasCode && unit === "usd_without_code"))
    .map(({ adds, ...key }) => ({ ...key, amount: fromAtto(adds) }));
  await addUsage(sql, { projectId, day: now.toISOString().slice(0, 10) }, added);
  const row = rowOf(deps, intent, decided, subject);
  deps.made.set(row.id, row);
  const requireSame = async (at: Sql): Promise<void> => {
    if (isFree && (await hasPolicies(at, projectId))) throw new PoliciesChangedError();
  };
  return {
    evaluationId: row.id,
    store: async (at) => {
      await inOrder(at, [
        () => insertEvaluation(at, row, intent.recipients),
        () => requireSame(at),
      ]);
    },
  };
};

const refusedByScreening = async (
  deps: EngineDeps,
  { intent, prices, isFree }: Prepared,
  { sql, subject, gate }: { sql: Sql; subject: Subject; gate: Gate },
): Promise<ScreeningRefusedError> => {
  const found = isFree ? [] : await policiesOf(deps, sql, intent);
  const decided = await decide(sql, intent, {
    prices,
    now: deps.clock.now(),
    locks: false,
    found,
  });
  return gate.refusal(rowOf(deps, intent, withScreening(decided, gate), subject));
};

const checkOf = (deps: Parameters<typeof pass>[0], prepared: Prepared, gate: Gate): Check => {
  const evaluate: Check["evaluate"] = async (sql, subject, admission) => {
    const isSent = admission.isSent === true;
    if (gate.isStopped && !isSent)
      throw await refusedByScreening(deps, prepared, { sql, subject, gate });
    const passed = await pass(deps, prepared, sql, { subject, admission });
    const { projectId } = prepared.intent;
    if (passed !== null)
      await gate.recordPassed(sql, { ...subject, projectId, phase: "accept" }, isSent);
    return passed;
  };
  const enforce: Check["enforce"] = async (sql, subject, admission) => {
    const passed = await evaluate(sql, subject, admission);
    if (passed === null) return null;
    await passed.store(sql);
    return passed.evaluationId;
  };
  return { evaluate, enforce };
};

/**
 * Applies the project's policies to movements: `checking` when money is accepted, `refuse` and
 * `dryRun` before that, and `isAllowed` when the signer is called.
 */
export const createPolicyEngine = (deps: EngineDeps): PolicyEngine => {
  const reader = sqlOf(deps.database.prisma);
  const policyReader = keptSqlOn(deps.database.pool);
  const withoutPolicy = createWithoutPolicy(reader);
  const { screening = NO_SCREENING } = deps;
  // The evaluations that this instance made, by their ids. An evaluation never changes, so it is
  // not read again before signing.
  const made = new LRUCache<string, StoredEvaluation>({ max: MADE_MAX });

  const decideNow = async (
    intent: Intent,
    {
      isFree = false,
      draft,
    }: { readonly isFree?: boolean; readonly draft?: EffectivePolicy | undefined },
  ): Promise<Decided> => {
    const stored = isFree ? [] : await policiesOf(deps, policyReader, intent);
    const found =
      draft === undefined
        ? stored
        : [...stored.filter((policy) => !isOfSame(policy, draft)), draft];
    const prices = await pricesOf(deps, intent, found);
    return decide(reader, intent, { prices, now: deps.clock.now(), locks: false, found });
  };

  const prepare = async (intent: Intent): Promise<[Prepared, Gate]> => {
    const isFree = await withoutPolicy.has(intent.projectId);
    const found = isFree ? [] : await policiesOf(deps, policyReader, intent);
    const [prices, gate] = await Promise.all([
      pricesOf(deps, intent, found),
      screenIntent(screening, intent, found),
    ]);
    return [{ intent, prices, isFree }, gate];
  };

  const checking = async <T>(
    intent: Intent,
    work: (check: Check) => Promise<T>,
  ): Promise<T> => {
    const [prepared, gate] = await prepare(intent);
    try {
      return await work(checkOf({ ...deps, made }, prepared, gate));
    } catch (error) {
      if (error instanceof PolicyViolationError)
        await insertEvaluation(reader, error.evaluation, []);
      if (error instanceof ScreeningRefusedError && error.screening === gate.screening)
        await gate.recordStopped(reader, error.evaluation);
      throw error;
    }
  };

  return {
    dryRun: async (intent, draft) => {
      const decided = await decideNow(intent, { draft });
      return withScreening(decided, await screenIntent(screening, intent, decided.policies))
        .evaluation;
    },

    refuse: async (intent, { canWait = true, isFirst = false } = {}) => {
      const decided = await decideNow(intent, {
        isFree: isFirst && (await withoutPolicy.has(intent.projectId)),
      });
      const { evaluation } = decided;
      if (
        evaluation.decision === "allow" ||
        (evaluation.decision === "needs_approval" && canWait)
      ) {
        const gate = await screenIntent(screening, intent, decided.policies);
        if (!gate.isStopped) return evaluation;
        const stopped = rowOf(deps, intent, withScreening(decided, gate), null);
        await gate.recordStopped(reader, stopped);
        throw gate.refusal(stopped);
      }
      const row = rowOf(deps, intent, decided, null);
      await insertEvaluation(reader, row, []);
      throw new PolicyViolationError(row, evaluation);
    },

    checking: (intent, work) =>
      checking(intent, work).catch((error: unknown) => {
        if (!(error instanceof PoliciesChangedError)) throw error;
        withoutPolicy.forget(intent.projectId);
        return checking(intent, work);
      }),

    policyStored: withoutPolicy.forget,

    screenAgain: (departure, how) =>
      screenDeparture({ screening, reader: policyReader, sql: reader }, departure, how),

    isAllowed: async (projectId, evaluationId, subject) => {
      if (evaluationId === null) return false;
      const own = made.get(evaluationId);
      const found =
        own?.projectId === projectId
          ? own
          : await findEvaluation(deps.database, { projectId, id: evaluationId });
      if (found === null || found.subjectId !== subject.id || found.decision !== "allow")
        return false;
      return Buffer.from(found.digest).equals(subject.digest) && isSealed(deps.secrets, found);
    },
  };
};
