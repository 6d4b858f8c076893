import { requestOtp } from "@/lib/contracts/swap";
import { refuseViewer } from "@/lib/http/authenticate";
import { ok, route } from "@/lib/http/route";
import { toOtpSent } from "@/lib/modules/otp/serializer";

export const POST = route({
  contract: requestOtp,
  handler: async ({ body: { channel, ...body }, actor, services }) => {
    if (body.approvalId !== undefined)
      return ok(toOtpSent(await services.approvals.requestCode(actor, body.approvalId, channel)));
    refuseViewer(actor);
    if (body.payoutId !== undefined)
      return ok(toOtpSent(await services.payouts.requestCode(actor, body.payoutId, channel)));
    if (body.scheduleId !== undefined)
      return ok(toOtpSent(await services.payoutSchedules.requestCode(actor, body.scheduleId, channel)));
    const { operationId, quoteId } = body;
    const privately =
      operationId !== undefined
        ? await services.privacy.requestCode(actor, operationId, channel)
        : quoteId !== undefined
          ? await services.privacy.requestQuoteCode(actor, quoteId, channel)
          : null;
    return ok(toOtpSent(privately ?? (await services.swaps.requestCode(actor, body, channel))));
  },
});
