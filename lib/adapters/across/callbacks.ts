import type { CallbackProvider } from "@/lib/money/ports/callback-provider";

/**
 * Callbacks of Across. They are signed with the webhook's `whsec_` secret, and their status is an
 * object with a state.
 */
export const acrossCallbacks: CallbackProvider = {
  name: "across",
  signature: { scheme: "standard_webhooks" },
  eventTypes: new Set(["transfer.status", "transfer.data"]),
  statuses: new Set([
    "pending",
    "initiated",
    "deposited",
    "filling",
    "filled",
    "completed",
    "expired",
    "refunding",
    "refunded",
    "failed",
  ]),
};
