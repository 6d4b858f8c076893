import { reverseFunding } from "@/lib/contracts/global-accounts";
import { created, route } from "@/lib/http/route";
import { toReversal } from "@/lib/books/global-accounts/serializer";

export const POST = route({
  contract: reverseFunding,
  handler: async ({ params, body, actor, services, idempotencyKey }) =>
    created(
      toReversal(
        await services.globalAccounts.reverse(actor, params.id, {
          ...body,
          key: idempotencyKey,
        }),
      ),
    ),
});
