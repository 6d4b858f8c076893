import { z } from "zod";

const kind = z.enum(["event", "test", "replay", "resend"]);
const status = z.enum(["pending", "delivered", "failed"]);
const headers = z.record(z.string(), z.string());

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly projectId: string;
  readonly id: string;
  readonly endpointId: string;
  readonly kind: z.output<typeof kind>;
  readonly eventId: string;
  readonly type: string;
  readonly sequence: number;
  readonly previousSequence: number | null;
  readonly objectId: string;
  readonly status: z.output<typeof status>;
  readonly attempts: number;
  readonly dueAt: Date;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly statusCode: number | null;
  readonly error: string | null;
}

/** One request of a delivery. */
export interface Attempt {
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string;
  readonly statusCode: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly error: string | null;
}

/** A row of the table `webhook_delivery`. */
export interface DeliveryColumns extends Omit<Delivery, "kind" | "status"> {
  readonly kind: string;
  readonly status: string;
}

/** A row of the table `webhook_attempt`. */
export interface AttemptColumns extends Omit<Attempt, "requestHeaders" | "responseHeaders"> {
  readonly requestHeaders: unknown;
  readonly responseHeaders: unknown;
}

/** @throws ZodError when a column does not have the shape that this version writes */
export const parseDelivery = (row: DeliveryColumns): Delivery => ({
  ...row,
  kind: kind.parse(row.kind),
  status: status.parse(row.status),
});

/** @throws ZodError when a column does not have the shape that this version writes */
export const parseAttempt = (row: AttemptColumns): Attempt => ({
  ...row,
  requestHeaders: headers.parse(row.requestHeaders),
  responseHeaders: headers.nullable().parse(row.responseHeaders),
});
