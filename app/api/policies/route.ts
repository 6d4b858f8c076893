import { getPolicies, updatePolicies } from "@/lib/contracts/policies";
import { ok, route } from "@/lib/http/route";
import { toPolicies } from "@/lib/modules/policies/serializer";

export const GET = route({
  contract: getPolicies,
  handler: async ({ actor, services }) => ok(toPolicies(await services.projectPolicies.get(actor.projectId))),
});

export const PATCH = route({
  contract: updatePolicies,
  handler: async ({ body: { dailyCapUsd, approvals, approval }, actor, services }) => {
    if (approvals !== undefined) await services.votingPolicy.set(actor, approvals, approval);
    else if (dailyCapUsd !== undefined) await services.projectPolicies.update(actor, { dailyCapUsd, approval });
    return ok(toPolicies(await services.projectPolicies.get(actor.projectId)));
  },
});
