/** How a provider signs its callbacks. */
export type CallbackSignature =
  /** HMAC-SHA-256 (hex) of `<Unix time>.<body>`; a separate header contains the time. */
  | {
      readonly scheme: "timestamped_hmac";
      readonly timeHeader: string;
      readonly signatureHeader: string;
    }
  /** Standard Webhooks 1.0. */
  | { readonly scheme: "standard_webhooks" };

/**
 * Describes the callbacks of one provider.
 * @example
 * const provider: CallbackProvider = {
 *   name: "example",
 *   signature: { scheme: "standard_webhooks" },
 *   eventTypes: new Set(["transfer.status"]),
 *   statuses: new Set(["pending", "completed"]),
 * };
 */
export interface CallbackProvider {
  /** Stored with each callback, and the prefix of the callback's event key. */
  readonly name: string;
  readonly signature: CallbackSignature;
  /**
   * The event types that this provider sends. A callback with another type is not recognised as
   * this provider's.
   */
  readonly eventTypes: ReadonlySet<string>;
  /**
   * The status words that the provider documents, in lower case. A callback with a different word
   * triggers no job.
   */
  readonly statuses: ReadonlySet<string>;
}
