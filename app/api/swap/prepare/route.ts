import { givenCode } from "@/lib/contracts/proofs";
import { prepareSwap } from "@/lib/contracts/swap";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: prepareSwap,
  beforeReplay: ({ body, actor, services }) => services.swaps.checkCaller(actor, body),
  handler: async ({ body: { otp, totp, passkey, ...subject }, actor, services }) =>
    ok(await services.swaps.prepare(actor, subject, givenCode({ otp, totp, passkey }))),
});
