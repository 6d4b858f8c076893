import { listPolicyVersions } from "@/lib/contracts/policies";
import { ok, route } from "@/lib/http/route";
import { toPolicy } from "@/lib/trust/policies/serializer";

export const GET = route({
  contract: listPolicyVersions,
  handler: async ({ query, actor, services }) =>
    ok({ data: (await services.policyDocuments.versions(actor, query)).map(toPolicy) }),
});
