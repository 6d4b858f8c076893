/** A checked payout that is about to be stored, and the reason for its creation. */
import { actorName, type Actor } from "@/lib/core/actor";
import type { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import { doneBy, type AuditEntry } from "@/lib/news/audit/service";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { ShownRow } from "./approval-text";
import type { AccountsRequest } from "./accounts/request";
import { duplicateText, type DuplicateRow, type RowKeys } from "./duplicate-rows";
import type { Payout } from "./payout";
import type { PayoutParts } from "./payout-view";
import type { HoldingAt, Outflow } from "./wallets/money";
import type { WalletsRequest } from "./wallets/request";
import type { PayoutPlan } from "./wallets/rows";
import type { PayoutWarning } from "./wallets/wallet-payout";

/** A checked request for a payout of either kind: all of its rows are valid. */
export type PayoutRequest = AccountsRequest | WalletsRequest;

export interface ScheduledRun {
  readonly projectId: string;
  readonly scheduleId: string;
  readonly scheduledAt: Date;
  /** The id of the user or API key that created the schedule, from `actorName`. */
  readonly askedBy: string;
}

/** The reason for a new payout: a request of a caller, a retry, or a run of a schedule. */
export interface Origin {
  /**
   * The caller's Idempotency-Key, or a key that names the run of the schedule. Null for a retry,
   * and for a request without a key.
   */
  readonly key: string | null;
  readonly retryOf: string | null;
  readonly run: ScheduledRun | null;
  readonly allowDuplicates: boolean;
}

/**
 * The source of a payout's money when the payout starts. `ledger`: the ledger moves the money
 * between accounts. `holding`: the money is held in the treasury. `operation`: the operation of a
 * quote first brings the missing part to the payout's chain.
 */
export type Payment =
  | { readonly by: "ledger" }
  | { readonly by: "holding"; readonly at: HoldingAt; readonly outflow: Outflow }
  | { readonly by: "operation"; readonly quoteId: string };

/** The rows of a new payout in their stored form, which depends on the kind of the payout. */
export type NewRows =
  | {
      readonly kind: "global_accounts";
      /** The rows, each encoded by `encodeRow`. */
      readonly encoded: readonly string[];
    }
  | { readonly kind: "wallets"; readonly plan: PayoutPlan };

export interface Draft {
  readonly parts: PayoutParts;
  readonly rows: NewRows;
  readonly shown: readonly ShownRow[];
  readonly keys: RowKeys;
  /**
   * The error that paying the payout would cause now; null when it can be paid. Duplicate rows are
   * reported before this error.
   */
  readonly obstacle: DomainError | null;
  /**
   * Worth in US dollars, which counts towards the caller's caps. Null when the worth is unknown, or
   * when the caller needs a code for any amount, because no cap applies then.
   */
  readonly usd: string | null;
  /**
   * SHA-256 of the payments that the policies evaluate. Before anything is paid, the digest is
   * computed again and must be equal.
   */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly payment: Payment;
}

/** Returns the initial values of the fields that both kinds of payouts have. */
export const newPayout = (actor: Actor, origin: Origin, now: Date) =>
  ({
    id: newId("payout"),
    projectId: actor.projectId,
    status: "pending",
    subStatus: "created",
    paidBase: 0n,
    failedBase: 0n,
    itemsCompleted: 0,
    itemsFailed: 0,
    idempotencyKey: origin.key,
    failure: null,
    retryOf: origin.retryOf,
    evaluationId: null,
    createdBy: actorName(actor),
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
  }) as const satisfies Partial<Payout>;

export const duplicateWarnings = (duplicates: readonly DuplicateRow[]): PayoutWarning[] =>
  duplicates.map((each) => ({
    code: "duplicate_row",
    path: `transfers.${String(each.index)}`,
    message: `Row ${String(each.index)} ${duplicateText(each)}.`,
  }));

const auditedParts = (parts: PayoutParts): NonNullable<AuditEntry["data"]> => {
  if (parts.kind === "global_accounts") {
    const { totalBase, currency } = parts.payout;
    return { total: formatAmount(totalBase, LEDGER_DECIMALS), currency };
  }
  const { payout, own } = parts;
  return {
    chainId: own.chainId,
    totals: own.totals
      .map(
        ({ token, amountBase }) =>
          `${formatAmount(amountBase, token.decimals)} ${token.symbol}`,
      )
      .join(", "),
    ...(payout.sourceAccountId === null ? {} : { sourceAccountId: payout.sourceAccountId }),
    ...(own.scheduleId === null ? {} : { scheduleId: own.scheduleId }),
  };
};

/**
 * Builds the audit entry for the creation of a payout. When the payout is queued without an
 * approval, the entry's field `means` says whether a policy or a schedule allowed this.
 * @param status the substatus with which the payout is stored
 */
export const createdEntry = (
  actor: Actor,
  parts: PayoutParts,
  { status, origin }: { readonly status: Payout["subStatus"]; readonly origin: Origin },
): AuditEntry => {
  const { id, itemsTotal, createdAt, retryOf } = parts.payout;
  return {
    ...doneBy(actor),
    action: retryOf === null ? "payout.created" : "payout.retried",
    subject: id,
    data: {
      status,
      ...auditedParts(parts),
      items: itemsTotal,
      ...(status === "queued" ? { means: origin.run === null ? "policy" : "schedule" } : {}),
      ...(retryOf === null ? {} : { retryOf }),
    },
    at: createdAt,
  };
};
