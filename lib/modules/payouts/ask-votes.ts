/** Payouts that people of the project decide by vote, where the project's setting demands it. */
import type { Actor } from "@/lib/core/actor";
import type { Sql } from "@/lib/db/sql";
import type { AuditEntry } from "@/lib/modules/audit/service";
import { cancelDecision, type DecisionsService } from "@/lib/modules/decisions/service";
import { votesOf, type RequiredApproval } from "@/lib/modules/policies/service";
import type { Payout } from "./payout";

export type VotesPort = Pick<DecisionsService, "openOn" | "requirementOf" | "refuseCode">;

export const PAYOUT_SUBJECT = "payout";

/** `1 wallet`, `12 wallets`. */
export const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? "" : "s"}`;

/** The request for votes: the texts that voters read, and the digest that they approve. */
export interface Asked {
  readonly title: string;
  readonly lines: readonly string[];
  /** SHA-256 of everything that is approved. */
  readonly digest: Uint8Array<ArrayBuffer>;
}

/**
 * Opens the request about a payout that was stored awaiting approval, in the same transaction, where the project's setting or its policies demand
 * votes.
 */
export const askVotes = async (
  decisions: VotesPort,
  sql: Sql,
  {
    payout,
    actor,
    asked,
    ofPolicies,
  }: {
    readonly payout: Payout;
    readonly actor: Actor;
    readonly asked: Asked;
    /** The votes that the policies demand. */
    readonly ofPolicies: RequiredApproval | null;
  },
): Promise<void> => {
  const { projectId, id, subStatus, expiresAt } = payout;
  if (subStatus !== "awaiting_approval" || expiresAt === null) return;
  const required = votesOf(await decisions.requirementOf(projectId, sql), ofPolicies);
  if (required === null) return;
  const subject = { type: PAYOUT_SUBJECT, id };
  await decisions.openOn(sql, { projectId, subject, ...asked, maker: actor, required, expiresAt });
};

/** Ends the open request about a payout, in the transaction that cancels the payout. */
export const cancelVotes = async (sql: Sql, { projectId, at }: AuditEntry, id: string): Promise<void> => {
  if (projectId !== null) await cancelDecision(sql, { projectId, subject: { type: PAYOUT_SUBJECT, id }, at });
};

/** Refuses one person's code where the project demands votes. @throws DomainError `invalid_state` */
export const refuseCode = (decisions: VotesPort, { projectId, id }: Payout): Promise<void> =>
  decisions.refuseCode({ projectId, subject: { type: PAYOUT_SUBJECT, id } });
