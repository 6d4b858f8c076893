import { receiveBundlerCallback } from "@/lib/contracts/webhooks";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: receiveBundlerCallback,
  verify: ({ services, ...sent }) => services.callbacks.verify("bundler", sent),
  handler: async ({ rawBody: raw, body, verified: verifiedBy, services }) =>
    ok(await services.callbacks.receive("bundler", { raw, body, verifiedBy })),
});
