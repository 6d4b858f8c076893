import { retryPayout } from "@/lib/contracts/payouts";
import { accepted, route } from "@/lib/http/route";
import { toPayout } from "@/lib/modules/payouts/serializer";

export const POST = route({
  contract: retryPayout,
  beforeReplay: ({ actor, services }) => services.policies.checkAccountRecipients(actor, "transfers"),
  handler: async ({ params, actor, services }) => accepted(toPayout(await services.payouts.retry(actor, params.id))),
});
