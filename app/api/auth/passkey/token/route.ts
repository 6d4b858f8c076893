import { signInByPasskey } from "@/lib/contracts/passkeys";
import { ok, route } from "@/lib/http/route";
import { toTokens } from "@/lib/modules/auth/serializer";

export const POST = route({
  contract: signInByPasskey,
  handler: async ({ body, request, clientAddress, services }) => {
    const userAgent = request.headers.get("user-agent");
    const { credential } = body;
    return ok(toTokens(await services.auth.signInByPasskey({ credential, kind: "api", userAgent, clientAddress })));
  },
});
