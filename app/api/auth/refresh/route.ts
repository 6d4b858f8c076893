import { refreshToken } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toTokens } from "@/lib/modules/auth/serializer";

export const POST = route({
  contract: refreshToken,
  handler: async ({ body, services }) => ok(toTokens(await services.auth.refresh(body.refreshToken))),
});
