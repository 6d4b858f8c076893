import { createToken } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toTokens } from "@/lib/trust/auth/serializer";

export const POST = route({
  contract: createToken,
  handler: async ({ body, origin, services }) =>
    ok(toTokens(await services.auth.signIn({ ...body, kind: "api", request: origin }))),
});
