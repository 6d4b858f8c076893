import { requestOtp } from "@/lib/contracts/swap";
import { ok, route } from "@/lib/http/route";
import { toOtpSent } from "@/lib/modules/otp/serializer";

export const POST = route({
  contract: requestOtp,
  handler: async ({ body, actor, services }) =>
    ok(
      toOtpSent(
        body.payoutId === undefined
          ? await services.quotes.requestCode(actor, body)
          : await services.payouts.requestCode(actor, body.payoutId),
      ),
    ),
});
