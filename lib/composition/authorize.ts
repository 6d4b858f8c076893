import { isId } from "@/lib/core/ids";
import { createAuthorize, type AwaitingFinders } from "@/lib/money/authorize/service";
import type { createPrivacyService } from "@/lib/money/privacy/service";
import type { SwapsService } from "@/lib/money/swaps/service";
import type { Identity } from "./identity";

interface Movements {
  readonly swaps: Pick<SwapsService, "approvable" | "awaiting">;
  readonly privacy: Pick<ReturnType<typeof createPrivacyService>, "approvable" | "awaiting">;
  readonly payouts: { readonly awaiting: AwaitingFinders["payout"] };
  readonly payoutSchedules: { readonly awaiting: AwaitingFinders["payoutSchedule"] };
}

export const buildAuthorize = (
  { otp, decisions, approvals }: Identity,
  { swaps, privacy, payouts, payoutSchedules }: Movements,
) =>
  createAuthorize({
    otp,
    decisions,
    approvals,
    quoted: async (actor, id) => {
      if (isId("transfer", id)) return swaps.approvable(actor, { transferId: id });
      // Public and private quotes have ids of the same kind, so both are looked up.
      const quoted = await privacy.approvable(actor, id);
      return quoted ?? swaps.approvable(actor, { quoteId: id });
    },
    awaiting: {
      operation: async (actor, id) =>
        (await privacy.awaiting(actor, id)) ?? swaps.awaiting(actor, id),
      payout: payouts.awaiting,
      payoutSchedule: payoutSchedules.awaiting,
    },
  });
