import type { CallbackProvider } from "@/lib/money/ports/callback-provider";

/** Callbacks of Relay. They are signed with the customer's API key. */
export const relayCallbacks: CallbackProvider = {
  name: "relay",
  signature: {
    scheme: "timestamped_hmac",
    timeHeader: "x-signature-timestamp",
    signatureHeader: "x-signature-sha256",
  },
  eventTypes: new Set(["request.status.updated"]),
  statuses: new Set([
    "waiting",
    "depositing",
    "pending",
    "submitted",
    "delayed",
    "success",
    "failure",
    "refund",
    "refunded",
  ]),
};
