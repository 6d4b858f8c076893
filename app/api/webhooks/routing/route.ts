import { receiveRoutingCallback } from "@/lib/contracts/webhooks";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: receiveRoutingCallback,
  verify: ({ services, ...sent }) => services.callbacks.verify("routing", sent),
  handler: async ({ rawBody: raw, body, verified: verifiedBy, services }) =>
    ok(await services.callbacks.receive("routing", { raw, body, verifiedBy })),
});
