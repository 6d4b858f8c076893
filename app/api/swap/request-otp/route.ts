import { requestOtp } from "@/lib/contracts/swap";
import { ok, route } from "@/lib/http/route";
import { toOtpSent } from "@/lib/modules/otp/serializer";
import { quoteIdOf } from "@/lib/modules/quotes/serializer";

export const POST = route({
  contract: requestOtp,
  handler: async ({ body, actor, services }) =>
    ok(toOtpSent(await services.quotes.requestCode(actor, quoteIdOf(body)))),
});
