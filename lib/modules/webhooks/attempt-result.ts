import type { WebhookAnswer } from "@/lib/ports/webhook-sender";
import type { DueDelivery, Result } from "./due-delivery-repository";
import { nextAttempt, retryAfterMs } from "./retry-schedule";

/** The endpoint asks not to be called again (RFC 9110, 410 Gone). */
export const GONE = 410;
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

const isSuccess = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

interface SentRequest {
  readonly url: string;
  readonly at: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Decides by the answer whether a delivery was made, is tried again (and when), or has failed for good. */
export const attemptResult = (
  delivery: DueDelivery,
  { sent, answer }: { readonly sent: SentRequest; readonly answer: WebhookAnswer },
  { now, random }: { readonly now: Date; readonly random: () => number },
): Result => {
  const { statusCode, headers, body, error, durationMs } = answer;
  const retryAfter = ASKS_TO_WAIT.has(statusCode ?? 0) ? retryAfterMs(headers["retry-after"], now) : null;
  const again = nextAttempt(delivery.attempts + 1, { now, random, retryAfter });
  const status = isSuccess(answer) ? "delivered" : again === null || statusCode === GONE ? "failed" : "pending";
  const { id, attempts } = delivery;
  const request = { at: sent.at, url: sent.url, requestHeaders: sent.headers, requestBody: sent.body };
  const response = { statusCode, responseHeaders: headers, responseBody: body, error, durationMs };
  return { id, attempts, status, dueAt: again ?? now, ...request, ...response };
};
