import { getJwks } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toJwks } from "@/lib/trust/auth/serializer";

export const GET = route({
  contract: getJwks,
  handler: async ({ services }) =>
    ok(toJwks(await services.auth.jwks()), { "cache-control": "public, max-age=300" }),
});
