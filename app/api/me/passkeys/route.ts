import { addPasskey, listPasskeys } from "@/lib/contracts/passkeys";
import { created, ok, route } from "@/lib/http/route";
import { toPasskey, toPasskeys } from "@/lib/trust/proofs/serializer";

export const GET = route({
  contract: listPasskeys,
  handler: async ({ actor, services }) =>
    ok(toPasskeys(await services.factors.passkeys.list(actor))),
});

export const POST = route({
  contract: addPasskey,
  handler: async ({ body, actor, services }) =>
    created(toPasskey(await services.factors.passkeys.add(actor, body.credential))),
});
