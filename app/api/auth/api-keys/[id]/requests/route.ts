import { listApiKeyRequests } from "@/lib/contracts/api-requests";
import { ok, route } from "@/lib/http/route";
import { toApiRequest } from "@/lib/money/api-requests/serializer";

export const GET = route({
  contract: listApiKeyRequests,
  handler: async ({ params, query, actor, services }) => {
    const { data, nextCursor } = await services.apiRequests.list(actor, params.id, query);
    return ok({ data: data.map(toApiRequest), nextCursor });
  },
});
