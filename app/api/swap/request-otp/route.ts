import { requestOtp } from "@/lib/contracts/swap";
import { ok, route } from "@/lib/http/route";
import { toOtpSent } from "@/lib/trust/proofs/serializer";

export const POST = route({
  contract: requestOtp,
  handler: async ({ body: { channel, ...subject }, actor, services }) => {
    // The contract requires exactly one id beside the channel.
    const [id = ""] = Object.values(subject).filter(Boolean);
    return ok(toOtpSent(await services.authorize.requestCode(actor, id, channel)));
  },
});
