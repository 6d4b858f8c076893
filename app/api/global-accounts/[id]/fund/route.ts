import { fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { created, route } from "@/lib/http/route";
import { toFunding } from "@/lib/books/global-accounts/serializer";

export const POST = route({
  contract: fundGlobalAccount,
  handler: async ({ params, body, actor, services, idempotencyKey }) =>
    created(
      toFunding(
        await services.globalAccounts.fund(actor, params.id, { ...body, key: idempotencyKey }),
      ),
    ),
});
