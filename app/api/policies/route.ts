import { getPolicies, putPolicy, updatePolicies } from "@/lib/contracts/policies";
import { ok, route } from "@/lib/http/route";
import { toPolicies, toPolicy } from "@/lib/trust/policies/serializer";

export const GET = route({
  contract: getPolicies,
  handler: async ({ actor: { projectId }, services }) =>
    ok(
      toPolicies(
        await services.projectPolicies.get(projectId),
        await services.policyDocuments.list(projectId),
      ),
    ),
});

export const PATCH = route({
  contract: updatePolicies,
  handler: async ({ body: { dailyCapUsd, approvals, approval }, actor, services }) => {
    if (approvals !== undefined) await services.votingPolicy.set(actor, approvals, approval);
    else if (dailyCapUsd !== undefined)
      await services.projectPolicies.update(actor, { dailyCapUsd, approval });
    const policies = await services.policyDocuments.list(actor.projectId);
    return ok(toPolicies(await services.projectPolicies.get(actor.projectId), policies));
  },
});

export const PUT = route({
  contract: putPolicy,
  handler: async ({ body, actor, services }) =>
    ok(toPolicy(await services.policyDocuments.put(actor, body))),
});
