/**
 * Screening as part of the policies. The screening mode is a rule of a policy, and a movement is
 * screened when its policies are evaluated.
 */
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import {
  DEFAULT_MODE,
  reasonOf,
  type Screened,
  type ScreenedSubject,
  type Screening,
  type ScreeningMode,
  type ScreeningService,
  stricterMode,
} from "@/lib/trust/screening/service";
import type { ScreenedAddress } from "@/lib/trust/ports/screening";
import { ScreeningRefusedError } from "./errors";
import type { RuleResult } from "./rules";
import type { Decided } from "./evaluation-row";
import type { EffectivePolicy } from "./facts";
import type { Intent } from "./intent";
import { insertEvaluation, readPolicies, type StoredEvaluation } from "./repository";

/**
 * A transaction or signature that is about to leave, for a movement that the policies allowed when
 * it was accepted.
 */
export interface Departure {
  readonly projectId: string;
  readonly walletIds: readonly string[];
  readonly keyIds: readonly string[];
  /** The evaluation that allowed the movement. The policies of its API keys apply too. */
  readonly evaluationId?: string | null;
  readonly addresses: readonly ScreenedAddress[];
  readonly subject: Omit<ScreenedSubject, "projectId">;
  readonly by: string;
}

export interface Gate {
  /** Null when nothing was screened. */
  readonly screening: Screening | null;
  readonly isStopped: boolean;
  /**
   * The result of the rule `screening`; null when no policy sets the rule and nothing is stopped.
   */
  readonly result: RuleResult | null;
  /** @param evaluation the result of `withScreening` */
  refusal(evaluation: StoredEvaluation): ScreeningRefusedError;
  recordPassed(sql: Sql, subject: ScreenedSubject, isSent: boolean): Promise<void>;
  /**
   * Stores the verdicts that stopped the movement.
   * @param evaluation the evaluation in the error of `refusal`
   */
  recordStopped(sql: Sql, evaluation: StoredEvaluation): Promise<void>;
}

export const NO_SCREENING: ScreeningService = {
  screen: () => Promise.resolve(null),
  record: () => Promise.resolve(""),
  isActive: () => Promise.resolve(false),
};

interface ModeRule {
  readonly mode: ScreeningMode;
  /** The policy that sets the mode; null when none does and the default applies. */
  readonly policy: EffectivePolicy | null;
}

/** The project's mode, or a stricter mode of a wallet or key. */
const modeRuleOf = (policies: readonly EffectivePolicy[]): ModeRule => {
  const project =
    policies.find(({ scope, rules }) => scope === "project" && rules.screening !== undefined) ??
    null;
  return policies.reduce<ModeRule>(
    (rule, policy) => {
      const mode = stricterMode(rule.mode, policy.rules.screening ?? rule.mode);
      return mode === rule.mode ? rule : { mode, policy };
    },
    { mode: project?.rules.screening ?? DEFAULT_MODE, policy: project },
  );
};

const addressesOf = ({ recipients, chains, parties }: Intent): readonly ScreenedAddress[] =>
  parties ??
  recipients.map((address) => ({
    address: address as `0x${string}`,
    chainId: chains[0] ?? null,
  }));

/**
 * Returns a function from an address to the request fields that name it. For an address that the
 * caller did not send, it returns the recipient's field.
 */
const pathsOf =
  ({ recipientPaths, fields }: Intent) =>
  (address: string): readonly string[] => {
    const paths = recipientPaths?.(address) ?? [];
    return paths.length === 0 ? [fields.recipient] : paths;
  };

const messageOf = ({ stopped }: Screening): string => {
  const [first] = stopped;
  if (first === undefined) return "No address is stopped by screening.";
  const others =
    stopped.length === 1
      ? ""
      : ` So ${stopped.length === 2 ? "is" : "are"} ${stopped.length - 1} more.`;
  return `Stopped: the address ${first.address} ${reasonOf(first.verdict)}.${others}`;
};

const resultOf = (
  intent: Intent,
  { policy }: ModeRule,
  found: Screening | null,
): RuleResult | null => {
  const [stopped] = found?.stopped ?? [];
  if (found === null || (stopped === undefined && policy === null)) return null;
  return {
    policyId: policy?.id ?? null,
    version: policy?.version ?? 0,
    scope: policy?.scope ?? "project",
    rule: "screening",
    outcome: stopped === undefined ? "allow" : "deny",
    message: messageOf(found),
    field:
      (stopped === undefined ? undefined : pathsOf(intent)(stopped.address)[0]) ??
      intent.fields.recipient,
  };
};

export const withScreening = (decided: Decided, { result }: Pick<Gate, "result">): Decided => {
  if (result === null) return decided;
  const evaluation = { ...decided.evaluation, rules: [...decided.evaluation.rules, result] };
  return result.outcome === "deny"
    ? { ...decided, evaluation: { ...evaluation, decision: "deny", approval: null } }
    : { ...decided, evaluation };
};

export const screenIntent = async (
  screening: ScreeningService,
  intent: Intent,
  policies: readonly EffectivePolicy[],
): Promise<Gate> => {
  const { projectId, by } = intent;
  const rule = modeRuleOf(policies);
  const found = await screening.screen(addressesOf(intent), { mode: rule.mode });
  const isStopped = found !== null && found.stopped.length > 0;
  return {
    screening: found,
    isStopped,
    result: resultOf(intent, rule, found),
    refusal: (evaluation) => {
      if (found === null) throw new Error("Nothing was screened, so screening cannot refuse.");
      return new ScreeningRefusedError(found, evaluation, pathsOf(intent));
    },
    recordPassed: async (sql, subject, isSent) => {
      if (found === null) return;
      await screening.record(
        sql,
        subject,
        found,
        isStopped && isSent ? "sent_by_wallet" : "passed",
        by,
      );
    },
    recordStopped: async (sql, evaluation) => {
      if (found === null) return;
      await insertEvaluation(sql, evaluation, []);
      await screening.record(
        sql,
        { projectId, type: "request", id: null, phase: "accept" },
        found,
        "stopped",
        by,
      );
    },
  };
};

const recordDeparture = async (
  screening: ScreeningService,
  sql: Sql,
  { projectId, subject, by }: Departure,
  found: Screening,
): Promise<void> => {
  const outcome = found.stopped.length > 0 ? "stopped" : "passed";
  // Before a submission only a stop is stored, because an operation is submitted many times.
  if (subject.phase === "broadcast" && outcome === "passed") return;
  await screening.record(sql, { ...subject, projectId }, found, outcome, by);
};

/**
 * Screens the addresses of a movement again before it is signed or sent, by the current policies.
 * Runs no statement while no source is configured, because the movement was then accepted under a
 * policy that requires none.
 * @returns the addresses that stop the movement
 */
export const screenDeparture = async (
  { screening, reader, sql }: { screening: ScreeningService; reader: SqlReader; sql: Sql },
  departure: Departure,
  { isRecorded = true }: { readonly isRecorded?: boolean } = {},
): Promise<readonly Screened[]> => {
  if (!(await screening.isActive())) return [];
  const { mode } = modeRuleOf(await readPolicies(reader, departure));
  const isFresh = departure.subject.phase === "sign";
  const found = await screening.screen(departure.addresses, { mode, isFresh });
  if (found === null) return [];
  if (isRecorded) await recordDeparture(screening, sql, departure, found);
  return found.stopped;
};
