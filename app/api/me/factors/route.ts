import { getFactors } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";
import { toFactors } from "@/lib/trust/proofs/serializer";

export const GET = route({
  contract: getFactors,
  handler: async ({ actor, services }) => ok(toFactors(await services.factors.get(actor))),
});
