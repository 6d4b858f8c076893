import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import type { Status, SubStatus } from "@/lib/core/status";
import { toBigInt } from "@/lib/db/decimal";

export type PayoutFailure = z.output<typeof failureRecord>;

interface Common {
  readonly id: string;
  readonly projectId: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  readonly reference: string | null;
  /** Ledger units; 0 for a payout to wallets that no account pays, which has a total for each token. */
  readonly totalBase: bigint;
  /** Of `totalBase`, the sum of the rows that are paid, and of those that failed or were cancelled. */
  readonly paidBase: bigint;
  readonly failedBase: bigint;
  readonly itemsTotal: number;
  readonly itemsCompleted: number;
  readonly itemsFailed: number;
  /** SHA-256 of everything that a one-time code approves. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly idempotencyKey: string | null;
  readonly failure: PayoutFailure | null;
  /** The payout whose failed rows this one pays again. */
  readonly retryOf: string | null;
  /** An actor's name, as `actorName` gives it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The evaluation of the policies that let it run; null while it awaits approval. */
  readonly evaluationId: string | null;
  /** The end of the time for its approval; null unless the payout awaits approval. */
  readonly expiresAt: Date | null;
  /** True where another version stored it and this one cannot read all of it: it is shown, and nothing can be asked of it. */
  readonly unread?: boolean;
}

/** Payments from one global account to others. */
export interface AccountsPayout extends Common {
  readonly kind: "global_accounts";
  readonly mode: "atomic" | "independent";
  readonly sourceAccountId: string;
  readonly currency: string;
}

/** Payments from the treasury to addresses of one chain; `WalletPayout` is the part that only this kind has. */
export interface WalletsPayout extends Common {
  readonly kind: "wallets";
  readonly mode: "independent";
  /** The account that bears the payments: a withdrawal. Null: the project bears them. */
  readonly sourceAccountId: string | null;
  /** The account's. */
  readonly currency: string | null;
}

export type Payout = AccountsPayout | WalletsPayout;

/** A row of the table `payout`. Its columns are parsed here and nowhere else. */
export interface PayoutColumns extends Omit<
  Common,
  "unread" | "status" | "subStatus" | "totalBase" | "paidBase" | "failedBase" | "digest" | "failure"
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

/** Both name the account that bears the payout, or neither. */
const walletsColumns = z
  .object({
    kind: z.literal("wallets"),
    mode: z.literal("independent"),
    sourceAccountId: z.string().nullable(),
    currency: z.string().nullable(),
  })
  .refine(({ sourceAccountId, currency }) => (sourceAccountId === null) === (currency === null));

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

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parsePayout = (row: PayoutColumns): Payout => ({
  ...kindColumns.parse(row),
  id: row.id,
  projectId: row.projectId,
  // CHECK constraints allow only these texts in the two columns.
  status: row.status as Status,
  subStatus: row.subStatus as SubStatus,
  reference: row.reference,
  totalBase: toBigInt(row.totalBase),
  paidBase: toBigInt(row.paidBase),
  failedBase: toBigInt(row.failedBase),
  itemsTotal: row.itemsTotal,
  itemsCompleted: row.itemsCompleted,
  itemsFailed: row.itemsFailed,
  digest: new Uint8Array(row.digest),
  idempotencyKey: row.idempotencyKey,
  failure: storedFailure.parse(row.failure),
  retryOf: row.retryOf,
  evaluationId: row.evaluationId,
  createdBy: row.createdBy,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  expiresAt: row.expiresAt,
});
