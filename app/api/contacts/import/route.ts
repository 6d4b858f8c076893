import { importContacts } from "@/lib/contracts/contacts";
import { ok, route } from "@/lib/http/route";
import { toImported } from "@/lib/books/contacts/serializer";

export const POST = route({
  contract: importContacts,
  handler: async ({ body, actor, services }) =>
    ok(toImported(await services.contacts.import(actor, body))),
});
