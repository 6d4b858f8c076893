import { approveContacts } from "@/lib/contracts/contacts";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: approveContacts,
  handler: async ({ body, actor, services }) =>
    ok(await services.contacts.approveAll(actor, body.ids, body.approval)),
});
