import { getPolicyEvaluation } from "@/lib/contracts/policies";
import { ok, route } from "@/lib/http/route";
import { toStoredEvaluation } from "@/lib/trust/policies/serializer";

export const GET = route({
  contract: getPolicyEvaluation,
  handler: async ({ params: { id }, actor: { projectId }, services }) =>
    ok(toStoredEvaluation(await services.policyDocuments.evaluation(projectId, id))),
});
