import { requestOtp } from "@/lib/contracts/swap";
import { refuseViewer } from "@/lib/http/authenticate";
import { ok, route } from "@/lib/http/route";
import { toOtpSent } from "@/lib/modules/otp/serializer";

export const POST = route({
  contract: requestOtp,
  handler: async ({ body, actor, services }) => {
    if (body.approvalId !== undefined)
      return ok(toOtpSent(await services.approvals.requestCode(actor, body.approvalId)));
    refuseViewer(actor);
    if (body.payoutId !== undefined) return ok(toOtpSent(await services.payouts.requestCode(actor, body.payoutId)));
    if (body.scheduleId !== undefined)
      return ok(toOtpSent(await services.payoutSchedules.requestCode(actor, body.scheduleId)));
    return ok(toOtpSent(await services.quotes.requestCode(actor, body)));
  },
});
