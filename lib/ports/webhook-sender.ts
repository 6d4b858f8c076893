export interface WebhookRequest {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted when the result is wanted no more. */
  readonly signal: AbortSignal;
}

/** What became of a request. A status without an error is an answer, whatever the status. */
export interface WebhookAnswer {
  readonly statusCode: number | null;
  /** A few that help to find a fault, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning, as text that PostgreSQL can store. */
  readonly body: string;
  /** For people: why there is no answer. */
  readonly error: string | null;
  readonly durationMs: number;
}

/**
 * Sends webhooks to addresses that anybody may have named, and to none that only this machine or its network can reach.
 * @example
 * const problem = await sender.check("https://example.org/hook"); // null
 * const { statusCode } = await sender.send({ url, headers, body, signal });
 */
export interface WebhookSender {
  /** Why nothing may be sent there; null: it may. A name that does not resolve now may later. */
  check(url: string): Promise<string | null>;
  /** Never throws. Follows no redirect; ends after its own time-out. */
  send(request: WebhookRequest): Promise<WebhookAnswer>;
  close(): void;
}
