import { unfreezeGlobalAccount } from "@/lib/contracts/global-accounts";
import { ok, route } from "@/lib/http/route";
import { toAccount } from "@/lib/books/global-accounts/serializer";

export const POST = route({
  contract: unfreezeGlobalAccount,
  handler: async ({ params, body, actor, services }) =>
    ok(toAccount(await services.accountChanges.unfreeze(actor, params.id, body.approval))),
});
