import { refreshToken } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toTokens } from "@/lib/trust/auth/serializer";

export const POST = route({
  contract: refreshToken,
  handler: async ({ body, origin, services }) =>
    ok(toTokens(await services.auth.refresh(body.refreshToken, origin))),
});
