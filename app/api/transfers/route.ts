import { createTransfer, listTransfers } from "@/lib/contracts/transfers";
import { created, ok, route } from "@/lib/http/route";
import { toTransfer } from "@/lib/money/transfers/serializer";

export const POST = route({
  contract: createTransfer,
  beforeReplay: ({ body, actor, services }) =>
    services.policies.checkRecipient(actor, body.toAddress, "toAddress"),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    created(
      toTransfer(
        await services.transfers.create(actor, body, idempotencyKey),
        services.registry,
      ),
    ),
});

export const GET = route({
  contract: listTransfers,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.transfers.list(actor.projectId, query);
    return ok({
      data: data.map((transfer) => toTransfer(transfer, services.registry)),
      nextCursor,
    });
  },
});
