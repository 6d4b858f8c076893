import { z } from "zod";

const days = (least: number, standard: number) => z.coerce.number().int().min(least).max(36_500).default(standard);

/** The days for which rows are kept that nobody needs any more. The records of money moves are never deleted, and events only by `npm run archive`. */
export const retentionVariables = {
  /** Quotes that were never executed, after they expired. */
  RETENTION_QUOTES_DAYS: days(1, 30),
  /** One-time codes, after they expired. */
  RETENTION_CODES_DAYS: days(1, 90),
  /** Signed bytes of the service's transactions, after they became final; hash, block, nonce and call data stay. */
  RETENTION_RAW_TRANSACTIONS_DAYS: days(7, 90),
  /** Hourly points of the balance history, which shows a year at most. */
  RETENTION_SNAPSHOTS_DAYS: days(1, 400),
  /** Requests that were made with API keys. */
  RETENTION_API_REQUESTS_DAYS: days(1, 30),
  /** Notifications of people, read or not. */
  RETENTION_NOTIFICATIONS_DAYS: days(1, 90),
  /** Webhook deliveries and their attempts. An archive of a closed month has those that are still there. */
  RETENTION_DELIVERIES_DAYS: days(7, 30),
  /** Answers that are given again to the same Idempotency-Key. */
  RETENTION_IDEMPOTENCY_KEYS_HOURS: z.coerce.number().int().min(24).max(8760).default(24),
};

export interface Retention {
  readonly quotesDays: number;
  readonly codesDays: number;
  readonly rawTransactionsDays: number;
  readonly snapshotsDays: number;
  readonly apiRequestsDays: number;
  readonly notificationsDays: number;
  readonly deliveriesDays: number;
  readonly idempotencyKeysHours: number;
}

export const retentionOf = (env: Readonly<Record<keyof typeof retentionVariables, number>>): Retention => ({
  quotesDays: env.RETENTION_QUOTES_DAYS,
  codesDays: env.RETENTION_CODES_DAYS,
  rawTransactionsDays: env.RETENTION_RAW_TRANSACTIONS_DAYS,
  snapshotsDays: env.RETENTION_SNAPSHOTS_DAYS,
  apiRequestsDays: env.RETENTION_API_REQUESTS_DAYS,
  notificationsDays: env.RETENTION_NOTIFICATIONS_DAYS,
  deliveriesDays: env.RETENTION_DELIVERIES_DAYS,
  idempotencyKeysHours: env.RETENTION_IDEMPOTENCY_KEYS_HOURS,
});
