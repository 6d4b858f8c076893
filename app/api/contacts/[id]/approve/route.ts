import { approveContact } from "@/lib/contracts/contacts";
import { ok, route } from "@/lib/http/route";
import { toContact } from "@/lib/books/contacts/serializer";

export const POST = route({
  contract: approveContact,
  handler: async ({ params, body, actor, services }) =>
    ok(toContact(await services.contacts.approve(actor, params.id, body.approval))),
});
