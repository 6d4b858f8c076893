export interface WebhookRequest {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * The outcome of a request. Either `statusCode` or `error` is set: any HTTP status is an answer,
 * not an error.
 */
export interface WebhookAnswer {
  readonly statusCode: number | null;
  /** Only headers that help to diagnose a failure; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the response body, as text that PostgreSQL can store. */
  readonly body: string;
  /** Human-readable reason why no answer arrived; null when one arrived. */
  readonly error: string | null;
  readonly durationMs: number;
}

/**
 * Sends webhooks to URLs that users chose. Refuses URLs that lead to this machine or its private
 * network.
 * @example
 * const problem = await sender.check("https://example.org/hook"); // null
 * const { statusCode } = await sender.send({ url, headers, body, signal });
 */
export interface WebhookSender {
  /**
   * Checks whether requests may be sent to the URL. A name that does not resolve is allowed,
   * because it may resolve later.
   * @returns the reason why the URL is not allowed; null when it is allowed
   */
  check(url: string): Promise<string | null>;
  /** Sends one request. Never throws, follows no redirect, and ends after the sender's time-out. */
  send(request: WebhookRequest): Promise<WebhookAnswer>;
  /** Closes open connections. */
  close(): void;
}
