import type { WebhookAnswer } from "./webhook-sender";

/** A browser that takes push messages. */
export interface PushTarget {
  /** URL at the browser's push service. */
  readonly endpoint: string;
  /** The browser's public key, base64url. */
  readonly p256dh: string;
  /** The browser's authentication secret, base64url. */
  readonly auth: string;
}

/** A push message. It contains no amounts, because a locked screen may show it. */
export interface PushMessage {
  readonly title: string;
  /** Page of the dashboard. */
  readonly path: string;
}

/**
 * Sends push messages to browsers, encrypted for the browser.
 * @example
 * const { statusCode } = await pusher.push(target, { title, path: "/inbox" }, signal); // 201
 */
export interface Pusher {
  /** The key that browsers subscribe with, base64url. */
  readonly publicKey: string;
  /**
   * Checks whether messages may be sent to the URL.
   * @returns the reason why the URL is not allowed; null when it is allowed
   */
  check(endpoint: string): Promise<string | null>;
  /**
   * Sends one message. Follows no redirect, and ends after the sender's time-out.
   * @throws Error when the browser's key is not valid
   */
  push(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<WebhookAnswer>;
}
