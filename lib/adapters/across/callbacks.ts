import type { CallbackProvider } from "@/lib/ports/callback-provider";

/** Callbacks of Across, which signs with the `whsec_` secret of the webhook. Its status is an object with a state. */
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
