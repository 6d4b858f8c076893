import type { NotificationKind } from "@/lib/contracts/notifications";

/** Names and explanations of the kinds of notifications. */
export const KINDS: Readonly<
  Record<NotificationKind, { readonly label: string; readonly hint: string }>
> = {
  approval_waiting: { label: "An approval waits", hint: "A payment that you may approve" },
  operation_failed: {
    label: "A payment failed",
    hint: "Failed, arrived in part, or needs a decision",
  },
  large_deposit: { label: "A large deposit", hint: "From the amount below" },
  gas_low: { label: "Gas is low", hint: "The service has little left for network fees" },
  member_joined: { label: "A member joined", hint: "Owners get a mail in any case" },
  key_created: { label: "An API key was created", hint: "Owners get a mail in any case" },
  policy_changed: {
    label: "A policy changed",
    hint: "Owners get a mail when a limit is raised",
  },
};
