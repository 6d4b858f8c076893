import { unshield } from "@/lib/contracts/privacy";
import { accepted, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: unshield,
  beforeReplay: ({ body, actor, services }) => services.privacy.checkRecipient(actor, body),
  handler: async ({ body, actor, services, idempotencyKey }) => {
    services.privacy.checkRecipient(actor, body);
    const warnings = await services.recipients.warnings({
      projectId: actor.projectId,
      chainIds: [body.chainId],
      recipients:
        body.toAddress === undefined ? [] : [{ path: "toAddress", address: body.toAddress }],
      tokens: [],
      purpose: "pay_in_private",
    });
    const transfer = await services.privacy.unshield(actor, body, idempotencyKey);
    return accepted({ ...toPrivateTransfer(transfer, services), warnings });
  },
});
