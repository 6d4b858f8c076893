import type { PolicyRules } from "@/lib/contracts/policy-rules";
import type { Requirement, VotingSetting } from "@/lib/trust/decisions/service";
import { readDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import { DomainError } from "@/lib/core/errors";
import type { Policy, Recipient, Usage } from "./rows";

/**
 * The fields of a policy that its evaluation needs. The id is null for the project's vote setting,
 * which is evaluated like a policy of the project.
 */
export type EffectivePolicy = Pick<Policy, "scope" | "subjectId" | "version" | "rules"> & {
  readonly id: Policy["id"] | null;
};

export interface Movement {
  /** Null for an account of the ledger or a private wallet, to which no wallet policy applies. */
  readonly walletId: string | null;
  /** Null for an account of the ledger. */
  readonly chainId: number | null;
  /** Lower-case address or `native`; null for an account of the ledger. */
  readonly token: string | null;
  readonly asset: string;
  /** In units of the asset, a decimal string. */
  readonly amount: string;
  /**
   * The sums in which the amount counts. `wallet` is for money that a wallet sends to a payout of
   * the project: the amount counts only in the sums of its wallet, because the payout counts in all
   * others. `none` is for money that a wallet sends to a payout which leaves the same wallet,
   * because the sums of this wallet include the payout.
   */
  readonly countsIn: "all" | "wallet" | "none";
  /** Worth in US dollars, a decimal string rounded up; null when no price is available. */
  readonly usd: string | null;
}

/** `usd`, `usd_without_code` or `asset:<assetId>`. */
export type UsageUnit = string;

export interface FactFields {
  readonly amount: string;
  readonly recipient: string;
  readonly chain: string;
  readonly token: string;
}

export interface Facts {
  readonly at: Date;
  readonly projectId: string;
  /** API keys that requested the movement. */
  readonly keyIds: readonly string[];
  /** True when an API key that is exempt from codes moves the money within its daily cap. */
  readonly byExemptKey: boolean;
  readonly movements: readonly Movement[];
  readonly chains: readonly number[];
  readonly recipients: readonly Recipient[];
  readonly usage: readonly Usage[];
  readonly fields: FactFields;
}

export type Decision = "allow" | "needs_approval" | "deny";

export type RequiredApproval = Requirement;

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/**
 * Whether the time is in one of the windows. `from` is included, `to` is not; days and times are in
 * the window's time zone.
 */
export const isOpen = (
  { timeZone, windows }: NonNullable<PolicyRules["hours"]>,
  at: Date,
): boolean => {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const day = WEEKDAYS.indexOf(parts.get("weekday") ?? "") + 1;
  const time = `${parts.get("hour") ?? ""}:${parts.get("minute") ?? ""}`;
  return windows.some(({ days, from, to }) => days.includes(day) && from <= time && time < to);
};

/** Number of fraction digits with which caps are compared and usage is stored. */
const DIGITS = 18;

/**
 * A decimal string as a multiple of 10^-18, rounded up, because it counts against a cap.
 * @throws Error when the text is no decimal string
 */
export const atto = (text: string): bigint => {
  const decimal = readDecimal(text);
  if (decimal === null) throw new Error(`${text} is no decimal string.`);
  return scaledTo(decimal, DIGITS, "ceil");
};

export const fromAtto = (value: bigint): string => formatAmount(value, DIGITS);

/**
 * The movements that a policy applies to. A wallet's policy applies only to movements of its
 * wallet, every other policy to all movements.
 */
export const boundBy = (
  { scope, subjectId }: Pick<EffectivePolicy, "scope" | "subjectId">,
  movements: readonly Movement[],
): readonly Movement[] =>
  scope === "wallet" ? movements.filter(({ walletId }) => walletId === subjectId) : movements;

/** The movements that a policy applies to and whose amounts count in its sums. */
export const countedBy = (
  policy: Pick<EffectivePolicy, "scope" | "subjectId">,
  movements: readonly Movement[],
): readonly Movement[] =>
  boundBy(policy, movements).filter(
    ({ countsIn }) =>
      countsIn === "all" || (countsIn === "wallet" && policy.scope === "wallet"),
  );

/**
 * The sum in US dollars. Null when the worth of one movement is unknown or zero. Zero counts as
 * unknown, because every payment has a worth.
 */
export const usdOf = (movements: readonly Pick<Movement, "usd">[]): bigint | null => {
  let sum = 0n;
  for (const { usd } of movements) {
    const worth = usd === null ? 0n : atto(usd);
    if (worth <= 0n) return null;
    sum += worth;
  }
  return sum;
};

export const assetSum = (movements: readonly Movement[], asset: string): bigint =>
  movements.reduce((sum, each) => (each.asset === asset ? sum + atto(each.amount) : sum), 0n);

export const assetUnit = (asset: string): UsageUnit => `asset:${asset}`;

/**
 * The amounts that the movements add to the units of the policy's daily caps, in 10^-18. Unknown
 * worth adds nothing, because such a movement is refused.
 */
export const usageOf = (
  { rules }: Pick<EffectivePolicy, "rules">,
  movements: readonly Movement[],
): { unit: UsageUnit; adds: bigint }[] => {
  const usd = usdOf(movements) ?? 0n;
  return [
    ...(rules.perDay?.usd === undefined ? [] : [{ unit: "usd", adds: usd }]),
    ...(rules.code?.mode === "exempt" ? [{ unit: "usd_without_code", adds: usd }] : []),
    ...(rules.perDay?.assets ?? []).map(({ assetId: asset }) => ({
      unit: assetUnit(asset),
      adds: assetSum(movements, asset),
    })),
  ];
};

export const SETTING = "The project's setting: payments are approved by";

/**
 * The project's vote setting as a policy of the project that demands votes for every movement, so
 * that one rule handles the setting and the policies.
 */
export const policyOfSetting = (
  projectId: string,
  setting: VotingSetting,
): EffectivePolicy => ({
  id: null,
  scope: "project",
  subjectId: projectId,
  version: 0,
  rules: {
    approvals: {
      aboveUsd: "0",
      count: setting.count,
      roles: [...setting.roles],
      excludeMaker: setting.excludeMaker,
      exemptKeys: setting.exemptKeys,
    },
  },
});

/**
 * Combines all requirements: the highest number of people, only the roles that every requirement
 * accepts, and no maker if one requirement excludes makers.
 */
export const strictest = (approvals: readonly RequiredApproval[]): RequiredApproval | null => {
  const [first, ...others] = approvals;
  if (first === undefined) return null;
  return {
    count: Math.max(...approvals.map(({ count }) => count)),
    roles: first.roles
      .filter((role) => others.every(({ roles }) => roles.includes(role)))
      .sort(),
    excludeMaker: approvals.some(({ excludeMaker }) => excludeMaker),
    demandedBy: approvals.flatMap(({ demandedBy = [] }) => demandedBy).sort(),
  };
};

/** Whether votes that met `given` also meet `demanded`. */
export const suffices = (given: RequiredApproval, demanded: RequiredApproval): boolean =>
  given.count >= demanded.count &&
  given.roles.every((role) => demanded.roles.includes(role)) &&
  (given.excludeMaker || !demanded.excludeMaker);

/**
 * The votes that a waiting movement needs by the project's setting and its policies. Null when the
 * code of one person approves it.
 * @param votes the votes that the evaluation found
 * @throws DomainError `policy_violation` when the setting and the policies have no role in common
 */
export const votesOf = ({
  votes,
}: {
  readonly votes: RequiredApproval | null;
}): RequiredApproval | null => {
  if (votes?.roles.length !== 0) return votes;
  throw new DomainError(
    "policy_violation",
    "No role may approve this for both the project's setting and its policies. Nothing was sent; change one of them.",
  );
};
