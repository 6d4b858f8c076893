import { retryPayout } from "@/lib/contracts/payouts";
import { accepted, route } from "@/lib/http/route";
import { toPayout } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: retryPayout,
  beforeReplay: ({ params, actor, services }) => services.payouts.checkRetry(actor, params.id),
  handler: async ({ params, actor, services }) =>
    accepted(toPayout(await services.payouts.retry(actor, params.id))),
});
