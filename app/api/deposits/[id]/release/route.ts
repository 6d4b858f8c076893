import { releaseDeposit } from "@/lib/contracts/deposits";
import { ok, route } from "@/lib/http/route";
import { toDeposit } from "@/lib/money/deposits/serializer";

export const POST = route({
  contract: releaseDeposit,
  handler: async ({ params, body, actor, services }) =>
    ok(toDeposit(await services.deposits.release(actor, params.id, body), services.registry)),
  answerAgain: async ({ params, actor, services }) =>
    (await services.audit.isDoneBy(actor, { action: "deposit.released", subject: params.id }))
      ? ok(toDeposit(await services.deposits.get(actor, params.id), services.registry))
      : null,
});
