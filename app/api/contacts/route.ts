import { createContact, listContacts } from "@/lib/contracts/contacts";
import { created, ok, route } from "@/lib/http/route";
import { toContact, toContacts } from "@/lib/books/contacts/serializer";

export const GET = route({
  contract: listContacts,
  handler: async ({ query, actor, services }) =>
    ok(toContacts(await services.contacts.list(actor, query))),
});

export const POST = route({
  contract: createContact,
  handler: async ({ body, actor, services }) =>
    created(toContact(await services.contacts.put(actor, body))),
});
