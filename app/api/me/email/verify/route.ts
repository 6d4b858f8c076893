import { verifyEmail } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toMe } from "@/lib/trust/auth/serializer";

export const POST = route({
  contract: verifyEmail,
  handler: async ({ body, actor, services }) =>
    ok(toMe(await services.auth.verifyEmail(actor, body.code))),
});
