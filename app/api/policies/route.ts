import { getPolicies, putPolicy, updatePolicies } from "@/lib/contracts/policies";
import { ok, route } from "@/lib/http/route";
import { toPolicies, toPolicy } from "@/lib/modules/policies/serializer";

export const GET = route({
  contract: getPolicies,
  handler: async ({ actor: { projectId }, services }) =>
    ok(toPolicies(await services.projectPolicies.get(projectId), await services.policyDocuments.list(projectId))),
});

export const PATCH = route({
  contract: updatePolicies,
  handler: async ({ body, actor, services }) =>
    ok(
      toPolicies(
        await services.projectPolicies.update(actor, body),
        await services.policyDocuments.list(actor.projectId),
      ),
    ),
});

export const PUT = route({
  contract: putPolicy,
  handler: async ({ body, actor, services }) => ok(toPolicy(await services.policyDocuments.put(actor, body))),
});
