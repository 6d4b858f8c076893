import { createNonce } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";
import { toNonce } from "@/lib/trust/auth/serializer";

export const POST = route({
  contract: createNonce,
  handler: async ({ body, services }) => ok(toNonce(await services.auth.createNonce(body))),
});
