import { listPrivateTransfers } from "@/lib/contracts/privacy";
import { ok, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const GET = route({
  contract: listPrivateTransfers,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.privacy.list(actor.projectId, query);
    return ok({ data: data.map((view) => toPrivateTransfer(view, services)), nextCursor });
  },
});
