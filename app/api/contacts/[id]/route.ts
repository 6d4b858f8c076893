import { deleteContact } from "@/lib/contracts/contacts";
import { ok, route } from "@/lib/http/route";

export const DELETE = route({
  contract: deleteContact,
  handler: async ({ params, actor, services }) => ok(await services.contacts.remove(actor, params.id)),
});
