/** Rows of private operations, as the module's services see them. */
import type { PrivacyStep, PrivacyTransfer } from "@/lib/db/generated/client";

export type TransferRow = PrivacyTransfer;
export type StepState = "queued" | "proved" | "submitted" | "completed" | "failed";
export type StepRow = PrivacyStep & { state: StepState };
