/** The rows of a payout that is about to be stored. */
import { actorName, type Actor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Sql } from "@/lib/db/sql";
import { doneBy, type AuditEntry } from "@/lib/modules/audit/service";
import type { WalletsPayout } from "../payout";
import { duplicateText, type DuplicateRow } from "../duplicate-rows";
import type { BatchGroup } from "./read-repository";
import type { NewWalletPayout } from "./new-payout-repository";
import { digestOf, type PayoutRequest } from "./request";
import { tokenName, type PayoutPlan } from "./rows";
import type { PayoutWarning } from "./wallet-payout";

/** The run of a schedule for which a payout is made. */
export interface ScheduledRun {
  readonly scheduleId: string;
  /** Who made the schedule, as `actorName` gives it. */
  readonly askedBy: string;
  /** Names the run; stored as the payout's idempotency key. */
  readonly key: string;
  /**
   * Stores the payout's id in its run, inside the transaction that stores the payout, so that both are stored or neither.
   * False when the run has a payout already, or was marked as missed or refused.
   */
  readonly take: (sql: Sql, payoutId: string) => Promise<boolean>;
}

/** The cause of a new payout: a call, a retry, or the run of a schedule. */
export interface Origin {
  /** The caller's Idempotency-Key. */
  readonly key: string | null;
  readonly retryOf: string | null;
  readonly run: ScheduledRun | null;
  readonly allowDuplicates: boolean;
}

/** The row of a new payout, with its initial values. */
export const newPayout = (actor: Actor, request: PayoutRequest, origin: Origin, now: Date): WalletsPayout => ({
  id: newId("payout"),
  projectId: actor.projectId,
  kind: "wallets",
  mode: "independent",
  status: "pending",
  subStatus: "created",
  sourceAccountId: request.account?.id ?? null,
  currency: request.account?.currency ?? null,
  reference: request.reference,
  totalBase: request.account?.totalBase ?? 0n,
  paidBase: 0n,
  failedBase: 0n,
  itemsTotal: request.rows.length,
  itemsCompleted: 0,
  itemsFailed: 0,
  digest: digestOf(request),
  idempotencyKey: origin.key,
  failure: null,
  retryOf: origin.retryOf,
  evaluationId: null,
  createdBy: actorName(actor),
  createdAt: now,
  updatedAt: now,
  expiresAt: null,
});

/** Groups the planned batches of a payout that is not stored yet, in the form in which stored ones are read. */
export const groupsOf = (payoutId: string, { batches }: PayoutPlan): BatchGroup[] =>
  batches.map(({ token, rows, amountBase }) => ({
    payoutId,
    token: tokenName(token),
    status: "queued",
    batches: 1,
    rows,
    amountBase,
    gasCostWei: 0n,
    mayStop: true,
    mayRetry: false,
    doubts: [],
  }));

export const duplicateWarnings = (duplicates: readonly DuplicateRow[]): PayoutWarning[] =>
  duplicates.map((each) => ({
    code: "duplicate_row",
    index: each.index,
    message: `Row ${String(each.index)} ${duplicateText(each)}.`,
  }));

/** The audit entry for the creation. `means` is set when the payout may run without an approval. */
export const createdEntry = (actor: Actor, payout: WalletsPayout, own: NewWalletPayout): AuditEntry => ({
  ...doneBy(actor),
  action: payout.retryOf === null ? "payout.created" : "payout.retried",
  subject: payout.id,
  data: {
    status: payout.subStatus,
    chainId: own.chainId,
    totals: own.totals
      .map(({ token, amountBase }) => `${formatAmount(amountBase, token.decimals)} ${token.symbol}`)
      .join(", "),
    items: payout.itemsTotal,
    ...(payout.sourceAccountId === null ? {} : { sourceAccountId: payout.sourceAccountId }),
    ...(payout.subStatus === "queued" ? { means: own.scheduleId === null ? "policy" : "schedule" } : {}),
    ...(payout.retryOf === null ? {} : { retryOf: payout.retryOf }),
    ...(own.scheduleId === null ? {} : { scheduleId: own.scheduleId }),
  },
  at: payout.createdAt,
});
