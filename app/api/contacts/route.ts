import { createContact, listContacts } from "@/lib/contracts/contacts";
import { created, ok, route } from "@/lib/http/route";
import { toContact, toContacts } from "@/lib/modules/contacts/serializer";

export const GET = route({
  contract: listContacts,
  handler: async ({ actor, services }) => ok(toContacts(await services.contacts.list(actor))),
});

export const POST = route({
  contract: createContact,
  handler: async ({ body, actor, services }) => created(toContact(await services.contacts.put(actor, body))),
});
