import { getMe, updateMe } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toMe, toMeWithVerification } from "@/lib/modules/auth/serializer";

export const GET = route({
  contract: getMe,
  handler: async ({ actor, services }) => ok(toMe(await services.auth.me(actor))),
});

export const PATCH = route({
  contract: updateMe,
  handler: async ({ body, actor, services }) =>
    ok(toMeWithVerification(await services.auth.setEmail(actor, body.email, body.approval))),
});
