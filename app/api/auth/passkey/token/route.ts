import { signInByPasskey } from "@/lib/contracts/passkeys";
import { ok, route } from "@/lib/http/route";
import { toTokens } from "@/lib/trust/auth/serializer";

export const POST = route({
  contract: signInByPasskey,
  handler: async ({ body: { credential }, origin, services }) =>
    ok(
      toTokens(
        await services.auth.signInByPasskey({ credential, kind: "api", request: origin }),
      ),
    ),
});
