import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import type { Status, SubStatus } from "@/lib/core/status";
import { toBigInt } from "@/lib/platform/db/decimal";
import { base, bytes, int, nullable, table, text, time } from "@/lib/platform/db/table";

export type PayoutFailure = z.output<typeof failureRecord>;

interface Common {
  readonly id: string;
  readonly projectId: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly reference: string | null;
  /**
   * The total in ledger units. It is 0 for a payout to wallets that the project funds; such a
   * payout has one total for each token (`WalletPayout.totals`).
   */
  readonly totalBase: bigint;
  /** The part of `totalBase` in rows that were paid. */
  readonly paidBase: bigint;
  /** The part of `totalBase` in rows that failed or were cancelled. */
  readonly failedBase: bigint;
  readonly itemsTotal: number;
  readonly itemsCompleted: number;
  readonly itemsFailed: number;
  /** SHA-256 of the requested payout. Approvals and repeated requests are compared with it. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string | null;
  readonly failure: PayoutFailure | null;
  /** The id of the payout whose failed rows this payout pays again; null for any other payout. */
  readonly retryOf: string | null;
  /** The id of the user or API key that created the payout, from `actorName`. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /**
   * The id of the policy evaluation that allowed the payout; null while the payout awaits approval.
   */
  readonly evaluationId: string | null;
  /** The time until which the payout can be approved; null unless the payout awaits approval. */
  readonly expiresAt: Date | null;
}

/** Payments from one global account (an account of the ledger) to other global accounts. */
export interface AccountsPayout extends Common {
  readonly kind: "global_accounts";
  readonly mode: "atomic" | "independent";
  readonly sourceAccountId: string;
  readonly currency: string;
}

/**
 * Payments from the treasury to addresses on one chain. `WalletPayout` has the fields that only
 * this kind has.
 */
export interface WalletsPayout extends Common {
  readonly kind: "wallets";
  readonly mode: "independent";
  /**
   * The ledger account that funds the payout, which makes it a withdrawal. Null: the project funds
   * the payout.
   */
  readonly sourceAccountId: string | null;
  readonly currency: string | null;
}

export type Payout = AccountsPayout | WalletsPayout;

/** Table `payout`: the columns that are stored when a payout is created. */
export const newPayouts = table({
  id: text,
  projectId: text,
  kind: text,
  mode: text,
  status: text,
  subStatus: text,
  sourceAccountId: nullable(text),
  currency: nullable(text),
  reference: nullable(text),
  totalBase: base,
  itemsTotal: int,
  digest: bytes,
  idempotencyKey: nullable(text),
  retryOf: nullable(text),
  evaluationId: nullable(text),
  createdBy: text,
  createdAt: time,
  updatedAt: time,
  expiresAt: nullable(time),
});

export interface PayoutKey {
  readonly projectId: string;
  readonly id: string;
}

type EndStatus = "completed" | "partially_completed" | "failed" | "cancelled";

/** Returns the final state of a payout whose rows have all ended. */
export const endOf = ({
  itemsTotal,
  itemsCompleted,
  itemsFailed,
}: Pick<Common, "itemsTotal" | "itemsCompleted" | "itemsFailed">): {
  status: EndStatus;
  subStatus: SubStatus;
} => {
  if (itemsCompleted === itemsTotal) return { status: "completed", subStatus: "full" };
  if (itemsCompleted > 0) return { status: "partially_completed", subStatus: "partial" };
  return itemsFailed > 0
    ? { status: "failed", subStatus: "full" }
    : { status: "cancelled", subStatus: "full" };
};

/** A row of the table `payout`, before `parsePayout`. */
export interface PayoutColumns extends Omit<
  Common,
  "status" | "subStatus" | "totalBase" | "paidBase" | "failedBase" | "digest" | "failure"
> {
  readonly kind: string;
  readonly mode: string;
  readonly status: string;
  readonly subStatus: string;
  readonly sourceAccountId: string | null;
  readonly currency: string | null;
  readonly totalBase: Parameters<typeof toBigInt>[0];
  readonly paidBase: Parameters<typeof toBigInt>[0];
  readonly failedBase: Parameters<typeof toBigInt>[0];
  readonly digest: Uint8Array;
  readonly failure: unknown;
}

/**
 * Parses the columns of a payout to wallets. The source account and its currency are both set, or
 * both null.
 */
const walletsColumns = z
  .object({
    kind: z.literal("wallets"),
    mode: z.literal("independent"),
    sourceAccountId: z.string().nullable(),
    currency: z.string().nullable(),
  })
  .refine(
    ({ sourceAccountId, currency }) => (sourceAccountId === null) === (currency === null),
  );

const kindColumns = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("global_accounts"),
    mode: z.enum(["atomic", "independent"]),
    sourceAccountId: z.string(),
    currency: z.string(),
  }),
  walletsColumns,
]);
const storedFailure = failureRecord.nullable();

/**
 * Parses a row of the table `payout`.
 * @throws ZodError when a stored column does not have the shape that this version writes
 */
export const parsePayout = (row: PayoutColumns): Payout => ({
  ...row,
  ...kindColumns.parse(row),
  // CHECK constraints allow only valid states in these two columns, so they are not parsed.
  status: row.status as Status,
  subStatus: row.subStatus as SubStatus,
  totalBase: toBigInt(row.totalBase),
  paidBase: toBigInt(row.paidBase),
  failedBase: toBigInt(row.failedBase),
  digest: new Uint8Array(row.digest),
  failure: storedFailure.parse(row.failure),
});
