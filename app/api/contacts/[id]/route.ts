import { deleteContact, getContact, updateContact } from "@/lib/contracts/contacts";
import { toContact } from "@/lib/books/contacts/serializer";
import { ok, route } from "@/lib/http/route";

export const GET = route({
  contract: getContact,
  handler: async ({ params, actor, services }) =>
    ok(toContact(await services.contacts.get(actor, params.id))),
});

export const DELETE = route({
  contract: deleteContact,
  handler: async ({ params, actor, services }) =>
    ok(await services.contacts.remove(actor, params.id)),
});

export const PATCH = route({
  contract: updateContact,
  handler: async ({ params, body, actor, services }) =>
    ok(toContact(await services.contacts.update(actor, params.id, body))),
});
