import { evaluatePolicies } from "@/lib/contracts/policies";
import { ok, route } from "@/lib/http/route";
import { toEvaluation } from "@/lib/trust/policies/serializer";

export const POST = route({
  contract: evaluatePolicies,
  handler: async ({ body, actor, services }) =>
    ok(toEvaluation(await services.policyDocuments.evaluate(actor, body))),
});
