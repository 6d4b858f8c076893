import { listDeposits } from "@/lib/contracts/deposits";
import { ok, route } from "@/lib/http/route";
import { toDeposit } from "@/lib/money/deposits/serializer";

export const GET = route({
  contract: listDeposits,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.deposits.list(actor, query);
    return ok({ data: data.map((view) => toDeposit(view, services.registry)), nextCursor });
  },
});
