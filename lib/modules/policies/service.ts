import { isAddressEqual } from "viem";
import type { Actor } from "@/lib/core/actor";
import { DomainError, notFound } from "@/lib/core/errors";
import type { Database } from "@/lib/db/client";
import { sqlOf, type Sql } from "@/lib/db/sql";
import type { EvmAddress } from "@/lib/ports/routing";
import { addSpending, fitsSpending, readDailyCap } from "./repository";

/** Decides how much an actor may move, to which recipients, and whether a one-time code has to approve it. */
export interface PoliciesService {
  /**
   * People may send to anybody; a key with a list of recipients to those alone.
   * @param path of the field that names the recipient, for `details`
   * @throws DomainError `recipient_not_allowed`
   */
  checkRecipient(actor: Actor, address: EvmAddress, path: string): void;
  /** The same for many addresses (checksummed): whether the actor may send to one. */
  mayPay(actor: Actor): (address: EvmAddress) => boolean;
  /**
   * The same for accounts of the ledger, which no list can name: a key that has a list pays none of them.
   * @throws DomainError `recipient_not_allowed`
   */
  checkAccountRecipients(actor: Actor, path: string): void;
  /** Whether a code has to approve whatever the actor moves. False for a key that is exempt up to its daily cap: see `mayAfford`. */
  needsCode(actor: Actor): boolean;
  /**
   * Whether the actor could move this without a code now. Nothing is noted, so it may be otherwise a moment later.
   * @param usd what is moved, in US dollars: an exact decimal string, not rounded down. null where it has no price, which counts as
   *   above every cap; so does zero, because no amount that moves is worth nothing
   */
  mayAfford(actor: Actor, usd: string | null, now: Date): Promise<boolean>;
  /**
   * Notes what the actor moves without a code on this UTC day, in the transaction that accepts it. False when it would pass the
   * key's cap or the project's, which holds for all keys together, or the actor needs a code for everything: then nothing was noted,
   * and the caller must ask for a code or refuse.
   */
  spend(sql: Sql, actor: Actor, usd: string | null, now: Date): Promise<boolean>;
  /**
   * US dollars per UTC day that all exempt keys of the project together move without a code.
   * @throws DomainError `not_found`
   */
  dailyCapUsd(projectId: string): Promise<string>;
}

const DECIMAL = /^\d{1,30}(\.\d{1,60})?$/;

export const createPoliciesService = ({ database }: { readonly database: Database }): PoliciesService => ({
  checkRecipient: (actor, address, path) => {
    if (actor.type !== "apiKey" || actor.policy.recipients.length === 0) return;
    if (actor.policy.recipients.some((allowed) => isAddressEqual(allowed as EvmAddress, address))) return;
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
    const message = "This API key may send to the addresses of its list alone, and to no account. Nothing was paid.";
    throw new DomainError("recipient_not_allowed", message, {
      details: [{ path, message, code: "recipient_not_allowed" }],
    });
  },
  needsCode: (actor) => actor.type !== "apiKey" || actor.policy.otp !== "exempt",
  mayAfford: async (actor, usd, now) => {
    const spending = spendingOf(actor, usd, now);
    return spending !== null && (await fitsSpending(sqlOf(database.prisma), spending));
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

/** null where no amount of the actor's goes without a code. */
const spendingOf = (actor: Actor, usd: string | null, now: Date) => {
  if (actor.type !== "apiKey" || actor.policy.otp !== "exempt" || actor.policy.dailyCapUsd === null) return null;
  if (usd === null || !DECIMAL.test(usd) || !/[1-9]/.test(usd)) return null;
  const { projectId, keyId: apiKeyId } = actor;
  const day = now.toISOString().slice(0, 10);
  return { projectId, apiKeyId, day, usd, capUsd: actor.policy.dailyCapUsd };
};
