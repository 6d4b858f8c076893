import { isAddressEqual } from "viem";
import type { Actor } from "@/lib/core/actor";
import { createBatcher } from "@/lib/core/batch";
import { DomainError, notFound } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import type { EvmAddress } from "@/lib/core/evm";
import { addSpending, fitSpendings, readDailyCap } from "./spend-repository";

export {
  isExemptKey,
  keysAmong,
  partiesOf,
  routeIntent,
  type Check,
  type Evaluation,
  type Intent,
  type Outflow,
  type Passed,
  type PolicyEngine,
  type Subject,
} from "./engine";
export { needsVotes, PoliciesChangedError, PolicyViolationError } from "./errors";
export type { RequiredApproval } from "./facts";
export type { Bounds } from "./bounds";
export { checkVoteRule, checkVotersLeft } from "./voters";
export { suffices, votesOf } from "./facts";
export { pricedPayment, readWorths } from "./spend-repository";

/**
 * Decides how much an actor may move, to which recipients, and whether a one-time code has to
 * approve it.
 */
export interface PoliciesService {
  /**
   * Checks that the actor may pay the address. People may pay any address. A key with a list of
   * recipients may pay only the addresses of its list.
   * @param path of the field that names the recipient, for `details`
   * @throws DomainError `recipient_not_allowed`
   */
  checkRecipient(actor: Actor, address: EvmAddress, path: string): void;
  /**
   * Returns a function that checks whether the actor may pay a checksummed address (EIP-55). It is
   * fast for many addresses.
   */
  mayPay(actor: Actor): (address: EvmAddress) => boolean;
  /**
   * Checks that the actor may pay accounts of the ledger. A key with a list of recipients may not,
   * because the list has only addresses.
   * @param path of the field that names the recipient, for `details`
   * @throws DomainError `recipient_not_allowed`
   */
  checkAccountRecipients(actor: Actor, path: string): void;
  /**
   * Whether a one-time code must approve every payment of the actor. False for a key that is exempt
   * up to its daily cap (`mayAfford`).
   */
  needsCode(actor: Actor): boolean;
  /**
   * Whether the actor could pay this amount without a code now. Counts nothing, so `spend` may
   * still refuse the amount.
   * @param usd the worth of the payment in US dollars: an exact decimal string, not rounded down.
   * Null means that no price is available. Null and zero count as above every cap, because a
   * payment is never worth nothing
   */
  mayAfford(actor: Actor, usd: string | null, now: Date): Promise<boolean>;
  /**
   * Counts an amount that the actor pays without a code on this UTC day, in the transaction that
   * accepts the payment. Returns false and counts nothing when the amount would exceed the key's
   * cap or the project's cap for all keys, or when the actor always needs a code. The caller must
   * then require a code or refuse the payment.
   */
  spend(sql: Sql, actor: Actor, usd: string | null, now: Date): Promise<boolean>;
  /**
   * The most that all exempt keys of the project together may pay without a code per UTC day, in US
   * dollars (decimal string).
   * @throws DomainError `not_found`
   */
  dailyCapUsd(projectId: string): Promise<string>;
}

const DECIMAL = /^\d{1,30}(\.\d{1,60})?$/;

/** Maximum number of amounts that one statement compares with their caps. */
const CHECKS_MAX = 100;

/**
 * The limits of API keys themselves: recipients, and caps for payments without a code. Concurrent
 * checks share one statement.
 */
export const createPoliciesService = ({
  database,
}: {
  readonly database: Database;
}): PoliciesService => {
  const fits = createBatcher({
    run: (spendings: Parameters<typeof fitSpendings>[1]) =>
      fitSpendings(keptSqlOn(database.pool), spendings),
    batchWeightMax: CHECKS_MAX,
  }).submit;
  return policiesOn(database, fits);
};

type Fits = (spending: Parameters<typeof addSpending>[1]) => Promise<boolean>;

const policiesOn = (database: Database, fits: Fits): PoliciesService => ({
  checkRecipient: (actor, address, path) => {
    if (actor.type !== "apiKey" || actor.policy.recipients.length === 0) return;
    if (
      actor.policy.recipients.some((allowed) => isAddressEqual(allowed as EvmAddress, address))
    )
      return;
    const message = `This API key may not send to ${address}. Its list of recipients names who it may send to.`;
    throw new DomainError("recipient_not_allowed", message, {
      details: [{ path, message, code: "recipient_not_allowed" }],
    });
  },
  mayPay: (actor) => {
    if (actor.type !== "apiKey" || actor.policy.recipients.length === 0) return () => true;
    const allowed = new Set(actor.policy.recipients);
    return (address) => allowed.has(address);
  },
  checkAccountRecipients: (actor, path) => {
    if (actor.type !== "apiKey" || actor.policy.recipients.length === 0) return;
    const message =
      "This API key may send to the addresses of its list alone, and to no account. Nothing was paid.";
    throw new DomainError("recipient_not_allowed", message, {
      details: [{ path, message, code: "recipient_not_allowed" }],
    });
  },
  needsCode: (actor) => actor.type !== "apiKey" || actor.policy.otp !== "exempt",
  mayAfford: async (actor, usd, now) => {
    const spending = spendingOf(actor, usd, now);
    return spending !== null && (await fits(spending));
  },
  spend: async (sql, actor, usd, now) => {
    const spending = spendingOf(actor, usd, now);
    return spending !== null && (await addSpending(sql, spending));
  },
  dailyCapUsd: async (projectId) => {
    const cap = await readDailyCap(database.prisma, projectId);
    if (cap === null) throw notFound();
    return cap;
  },
});

/**
 * The spending to count. Null when the actor is not an exempt key with a daily cap, or when `usd`
 * is unknown or zero.
 */
const spendingOf = (actor: Actor, usd: string | null, now: Date) => {
  if (
    actor.type !== "apiKey" ||
    actor.policy.otp !== "exempt" ||
    actor.policy.dailyCapUsd === null
  )
    return null;
  if (usd === null || !DECIMAL.test(usd) || !/[1-9]/.test(usd)) return null;
  const { projectId, keyId: apiKeyId } = actor;
  const day = now.toISOString().slice(0, 10);
  return { projectId, apiKeyId, day, usd, capUsd: actor.policy.dailyCapUsd };
};
