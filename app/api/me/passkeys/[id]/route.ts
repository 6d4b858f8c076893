import { renamePasskey } from "@/lib/contracts/passkeys";
import { ok, route } from "@/lib/http/route";
import { toPasskey } from "@/lib/trust/proofs/serializer";

export const PATCH = route({
  contract: renamePasskey,
  handler: async ({ params, body, actor, services }) =>
    ok(toPasskey(await services.factors.passkeys.rename(actor, params.id, body.name))),
});
