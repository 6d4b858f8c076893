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
  /** Stored with each callback, and used as the prefix of the callback's event key. */
  readonly name: string;
  readonly signature: CallbackSignature;
  /** The event types that this provider sends. A callback with any other type is not recognised. */
  readonly eventTypes: ReadonlySet<string>;
  /**
   * The statuses that the provider documents, in lower case. A callback with another status
   * triggers no job.
   */
  readonly statuses: ReadonlySet<string>;
}
